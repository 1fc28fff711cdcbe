#!/bin/bash
#SBATCH --partition=gpu --gpus=1 -N1
#SBATCH --output=$HOME/logs/%j.out
#SBATCH --error=log/%j.err
#SBATCH --account=
srun true
#SBATCH --time=1:00
