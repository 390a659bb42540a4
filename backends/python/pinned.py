# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Page-locked memory: touched, then locked. A library's own allocation of it takes several times as long."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable

import numpy as np

from .host_memory import touched_pages

Lock = Callable[[int, int], Callable[[int], object]]


def lock_pages(pages: np.ndarray, lock: Lock) -> None:
    """``lock(address, size)`` locks this memory; what it returns unlocks it, once no view of it is left."""
    address = pages.ctypes.data
    unlock = lock(address, pages.nbytes)
    weakref.finalize(pages, unlock, address).atexit = False


def array(shape: tuple[int, ...], dtype: str, lock: Lock) -> np.ndarray:
    """A new array in locked memory."""
    if math.prod(shape) == 0:
        return np.empty(shape, dtype)
    pages = touched_pages(math.prod(shape) * np.dtype(dtype).itemsize)
    lock_pages(pages, lock)
    return pages.view(dtype).reshape(shape)
