# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures of the report: a module each, with one function ``figures(rows, found)``.

A module yields a figure only where the data are there, and imports Matplotlib only when
it draws: without it the report has no figures, and says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..findings import Findings
from ..rows import Row
from . import (
    accuracy,
    bars,
    cascade,
    collectives,
    crossovers,
    energy,
    ladder,
    launches,
    learning,
    memory,
    navigation,
    overview,
    roofline,
    scaling,
    shapes,
    source_lines,
    stage_sweeps,
    stages,
    sweeps,
    throughput,
    timelines,
)
from .figure import Figure
from .output import available, render

MODULES = (
    *(
        overview,
        shapes,
        learning,
        roofline,
        sweeps,
        collectives,
        crossovers,
        scaling,
        bars,
        throughput,
        ladder,
        stages,
    ),
    *(stage_sweeps, timelines, launches, memory, energy, cascade, navigation),
    *(source_lines, accuracy),
)

__all__ = ["Figure", "all_figures", "available", "render"]


def all_figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """All figures that these rows and analyses allow."""
    for module in MODULES:
        yield from module.figures(rows, found)
