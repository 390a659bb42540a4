# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The records of one published folder, read once for all that is drawn of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .case import Case
from .fields import Broken
from .merge import load
from .options import MARGIN
from .rows import Row, build_rows
from .selection import measured

# Folders of kernels written once, beside native code: on a GPU, and on its host.
ONCE_GPU = ("h200-written-once", "h200-regressions-once")
ONCE_HOST = ("xeon-written-once", "xeon-regressions-once")
ONCE = (*ONCE_GPU, *ONCE_HOST, "xeon-classifiers-once")  # all of them
USUAL = "f32"  # of a problem in several types this one is shown
METRICS = {"gpu": "device_time", "host": "host_time"}  # data where the device is


@cache
def read(folder: Path, start: str = "") -> tuple[list[Case], list[Row]]:
    """The cases of its records whose names start so, and all of their rows; raises Broken.

    A campaign rents GPUs of one name on several hosts: they are pooled (hosts.py).
    """
    cases, problems = load([folder], start, pool=True)
    if problems:
        raise Broken("; ".join(problems))
    return cases, build_rows(cases, MARGIN)


def resident(folder: Path) -> list[Row]:
    """Its rows whose data are where the device is; raises Broken."""
    rows = measured(read(folder)[1])
    return [row for row in rows if row.case.metric == METRICS[row.case.device_kind]]
