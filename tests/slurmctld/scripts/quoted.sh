#!/bin/bash
#SBATCH -G 2 -c 16   # twice the share is 16
#SBATCH --job-name="two words" --comment="justify: not a reason for CPUs"
#SBATCH -c 17
true
