# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums over all threads of a grid, in Numba's CUDA."""

from __future__ import annotations

import numpy as np
from numba import cuda, float64

THREADS = 256  # per block


@cuda.jit(device=True)
def sum_of_block(buffer: np.ndarray, value: float) -> None:
    """The sum of every thread's `value` in `buffer[0]`; `buffer` [THREADS] is shared memory, not in use."""
    lane = cuda.threadIdx.x
    buffer[lane] = value
    cuda.syncthreads()
    half = THREADS // 2
    while half > 0:
        if lane < half:
            buffer[lane] += buffer[lane + half]
        cuda.syncthreads()
        half //= 2


@cuda.jit(device=True)
def add_up(mine: np.ndarray, totals: np.ndarray) -> None:
    """Adds every thread's `mine` [sums] to `totals` [sums]: within blocks first, then by atomics."""
    buffer = cuda.shared.array(THREADS, float64)
    lane = cuda.threadIdx.x
    for s in range(mine.size):
        sum_of_block(buffer, mine[s])
        if lane == 0:
            cuda.atomic.add(totals, s, buffer[0])
        cuda.syncthreads()
