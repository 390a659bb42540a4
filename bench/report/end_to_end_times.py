# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Medians and intervals of end-to-end times; apart from reading them, which ReFrame does without NumPy."""

from __future__ import annotations

from . import statistics
from .case import Case
from .end_to_end import WAYS, of

Times = tuple[float, float | None, float | None]  # median and interval [s]


def times(case: Case) -> dict[tuple[str, str], Times]:
    """Median and interval of each way that was measured."""
    found = {}
    for way in WAYS:
        if one := of(case, *way):
            launches = list(one.launches.values())
            middle = statistics.median([t for samples in launches for t in samples])
            low, high = statistics.median_interval(launches) or (None, None)
            found[way] = (middle, low, high)
    return found


def parts_text(case: Case) -> str:
    """``pinned/warm/upload=0.001 ...``: the median of each part."""
    return " ".join(
        f"{memory}/{state}/{part}={statistics.median(values):.9g}"
        for (memory, state), one in case.end_to_end.items()
        for part, values in one.parts.items()
    )
