# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Splits the steps of a solve into CUDA graphs, for any library."""

from __future__ import annotations

from .peer import Unsupported

#: Long enough to amortise its launch, short enough to be captured quickly.
STEPS_PER_GRAPH = 100
LONGEST_GRAPH = 2000


def graph_lengths(steps: int, period: int) -> list[tuple[int, int]]:
    """Steps of each graph, and its number of launches: whole passes over the rows, then the rest.

    A pass over the rows has `period` steps. Raises Unsupported if a pass is too long for a graph.
    """
    if period > LONGEST_GRAPH:
        why = f"{period} batches: graphs are captured of up to {LONGEST_GRAPH}"
        raise Unsupported(why)
    length = -(-STEPS_PER_GRAPH // period) * period
    parts = ((length, steps // length), (steps % length, 1))
    return [(n, times) for n, times in parts if n and times]
