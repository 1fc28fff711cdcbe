#!/bin/bash
#SBATCH --job-name=train
#SBATCH --partition=gpu --nodes=1
#SBATCH --gpus=4
#SBATCH --cpus-per-task=32
#SBATCH --array=0-99 --output=logs/train-%A_%a.out
srun python train.py
