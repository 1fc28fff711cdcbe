#!/bin/bash
#SBATCH --job-name=train
#SBATCH --partition=gpu --nodes=1
#SBATCH --exclusive --gpus=4
#SBATCH --cpus-per-task=64
#SBATCH --array=0-99 --output=logs/train-%j.out
srun python train.py
