#!/bin/bash
#SBATCH -p gpu -N1 --gpus=1 -Hc 64
srun true
