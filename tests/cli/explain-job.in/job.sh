#!/bin/bash
#SBATCH --job-name=train
#SBATCH --partition=gpu --nodes=1
#SBATCH --gpus=4 --exclusive
#SBATCH --array=0-99 --output=logs/train-%j.out
srun python train.py
