# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Page-locked memory: touched, then locked. A library's own allocation of it takes several times as long."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable

import numpy as np

from .host_memory import touched_pages

Lock = Callable[[int, int], Callable[[int], object]]


def array(shape: tuple[int, ...], dtype: str, lock: Lock) -> np.ndarray:
    """An array in memory that ``lock(address, size)`` locks, and what it returns unlocks by its address."""
    if math.prod(shape) == 0:
        return np.empty(shape, dtype)
    pages = touched_pages(math.prod(shape) * np.dtype(dtype).itemsize)
    address = pages.ctypes.data
    unlock = lock(address, pages.nbytes)
    weakref.finalize(pages, unlock, address).atexit = False  # all views keep them
    return pages.view(dtype).reshape(shape)
