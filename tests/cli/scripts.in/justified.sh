#!/bin/bash
#SBATCH --partition=gpu --exclusive --comment='justify: needs the whole PCIe bus'
