# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A study on many nodes: job scripts for Slurm, the states of their launches, one report. See README.md.

Python 3.9 and its standard library: what a login node has.
"""
