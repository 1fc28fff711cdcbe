#!/bin/bash
true
#SBATCH --exclusive
