# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Large arrays of the host, by all threads: one alone gets 1 to 3 GB of new pages per second from the system."""

from __future__ import annotations

import contextlib
import mmap
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

BLOCK_BYTES = 64 << 20  #: what a thread assigns at a time


def assign(to: np.ndarray, values: np.ndarray | int) -> None:
    """``to[...] = values``, an array of the same shape or one number. (NumPy lets other threads run meanwhile.)"""
    rows = max(1, BLOCK_BYTES * len(to) // to.nbytes) if to.ndim and to.nbytes else 0
    if not 0 < rows < len(to):
        to[...] = values
        return

    def part(begin: int) -> None:
        of = values if isinstance(values, int) else values[begin : begin + rows]
        to[begin : begin + rows] = of

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        list(threads.map(part, range(0, len(to), rows)))


def touched_pages(size: int) -> np.ndarray:
    """Bytes that share no page with other memory, in huge pages where there are such."""
    memory = mmap.mmap(-1, size)
    with contextlib.suppress(OSError):
        memory.madvise(mmap.MADV_HUGEPAGE)
    pages = np.frombuffer(memory, np.uint8)
    assign(pages, 0)
    return pages
