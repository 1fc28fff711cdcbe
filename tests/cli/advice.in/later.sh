#!/bin/bash
#SBATCH -p gpu -N1 --gres=gpu:1 --gpus-per-node=1
#SBATCH -o logs/%j.out
srun true
