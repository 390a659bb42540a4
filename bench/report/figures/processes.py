# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Work without order, in forked processes: one for each core, where there is enough of it."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any

LEAST = 8  # figures that are worth a process
MOST = 16  # processes
work: list[Callable[[int], Any]] = []  # of a forked process: what it does


def side_by_side(task: Callable[[int], Any], count: int) -> list[Any]:
    """What the task returns for 0, 1 .. count - 1; its results must be able to travel."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    workers = min(cores, count // LEAST, MOST)
    if workers > 1:
        try:
            with ProcessPoolExecutor(
                workers, get_context("fork"), begin, (task,)
            ) as pool:
                return list(pool.map(do, range(count)))
        except BrokenProcessPool:  # one was killed, as for want of memory
            pass
    return [task(number) for number in range(count)]


def begin(task: Callable[[int], Any]) -> None:
    """Once in each process. What is there already is no garbage, and Matplotlib makes much that is."""
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    work.append(task)


def do(number: int) -> Any:
    """One piece."""
    return work[-1](number)
