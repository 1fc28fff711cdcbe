#!/bin/bash
# An array whose tasks share a log.
#SBATCH -a 1-8%2
#SBATCH --output=logs/%x-%j.out
#SBATCH --error logs/%x-%A_%a.err

true
