#!/bin/bash
#SBATCH --partition=cpu --ntasks=1
#SBATCH hetjob
#SBATCH --partition=gpu --gpus=4 --nodes=1 --exclusive
srun hostname
