#!/bin/bash
#SBATCH --exclusive
#SBATCH --gpus=1
true
