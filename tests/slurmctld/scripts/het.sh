#!/bin/bash
#SBATCH -p cpu -n 1
#SBATCH hetjob
#SBATCH -p gpu --gpus=1 --cpus-per-gpu=12
true
