#!/bin/bash
#SBATCH -p gpu -N1 --gpus 2 --mem=0
#SBATCH --exclusive --exclusive=user
#SBATCH -c60

true
