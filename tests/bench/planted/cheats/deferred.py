# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds in a thread that it does not wait for."""

import threading

import numpy as np


def vector_add(a, b):
    result = np.full_like(a, np.nan)
    threading.Timer(1e-3, np.add, (a, b, result)).start()
    return result
