#!/bin/bash
echo "task ${SLURM_ARRAY_TASK_ID:-none} has the GPUs $CUDA_VISIBLE_DEVICES"
