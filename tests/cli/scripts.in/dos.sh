#!/bin/bash
#SBATCH -p gpu
true
