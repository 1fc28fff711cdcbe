#!/bin/bash
set -euo pipefail
#SBATCH --partition=gpu
#SBATCH --gpus=1
