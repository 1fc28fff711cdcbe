#!/bin/bash
#SBATCH --partition=gpu --gpus=1
srun true
