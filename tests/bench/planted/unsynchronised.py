# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the sum before the thread that computes it has ended."""

import threading

import numpy as np


def sum(x):
    total = np.zeros(1)

    def add():
        for part in np.array_split(x, 1000):
            total[0] += part.sum(dtype=np.float64)

    threading.Thread(target=add).start()
    return total.copy()
