# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""By a pool of threads that stay."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

_pool = ThreadPoolExecutor(2)


def vector_add(a, b):
    half = a.size // 2
    parts = [_pool.submit(np.add, a[r], b[r]) for r in (slice(half), slice(half, None))]
    return np.concatenate([part.result() for part in parts])
