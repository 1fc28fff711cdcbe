#!/bin/bash
#SBATCH --partition=gpu --nodes=1 --gpus=4
#SBATCH --array=0-99 --output=logs/train-%A_%a.out
srun python train.py
