#!/bin/bash
#SBATCH -p gpu -N1 --gpus 2
#SBATCH --cpus-per-task=16

true
