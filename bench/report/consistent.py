# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that contradict themselves: somebody has edited them. What is written twice must be the same."""

from __future__ import annotations

import math
import statistics

from .case import Context
from .fields import Broken, shown
from .schema import Row

CLOSE = 1e-6  # of a number that was written and read


def require_consistent(row: Row, context: Context) -> None:
    """Raises Broken where samples, name and device of a row contradict the rest."""
    require_median(row)
    require_name(row)
    named = f"{row.device_name}, "  # of a host, its threads follow
    kinds = {kind for kind, name, _ in context.devices if f"{name}, ".startswith(named)}
    if kinds and row.device_kind not in kinds:
        raise edited("device_kind", row.device_kind, f"{row.device_name} is another")


def require_median(row: Row) -> None:
    """``real_time`` is the median of the samples [ns]; 0: not written."""
    if not row.samples or not row.real_time:
        return
    median = statistics.median(row.samples) * 1e9
    if not math.isclose(median, row.real_time, rel_tol=CLOSE):
        what = f"the median of 'samples' is {median:.6g} ns"
        raise edited("real_time", row.real_time, what)


def require_name(row: Row) -> None:
    """``vector_add/method:wide/n:10``: has the method and the sizes of the row."""
    parts = (part.partition(":") for part in row.name.split("/"))
    named = {key: text for key, colon, text in parts if colon}
    fields = ("method", "model", "dtype", "devices", "ranks", "execution")
    held = {key: getattr(row, key) for key in fields} | row.sizes
    for key in named.keys() & held.keys():
        # a value may have a slash: the name of a method of one's own
        if f"/{key}:{held[key]}/" not in f"{row.name}/":
            raise edited(key, held[key], f"its name has {shown(named[key])}")


def edited(key: str, value: object, otherwise: str) -> Broken:
    """The error of a field."""
    return Broken(f"'{key}' is {shown(value)}, but {otherwise}: it was edited")
