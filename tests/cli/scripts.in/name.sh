#!/bin/bash
#SBATCH --job-name=Big simulation
