#!/bin/bash
#SBATCH --gpus-per-nod=1 --partion=gpu
#SBATCH --time=1h
