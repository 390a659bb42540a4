# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launch maps: the time of a variant over team and vector (or league) sizes."""

from __future__ import annotations

from dataclasses import dataclass

from .rows import Row
from .statistics import Estimate


@dataclass(frozen=True)
class LaunchMap:
    """The launches of one variant on one problem and device."""

    title: str
    algorithm: str
    method: str
    model: str
    device: str
    sizes: str
    axis: str  # the name of the second axis: vector or league (or tile)
    cells: dict[tuple[int, int], Row]  # (team, second axis) -> its fastest row
    automatic: Row | None  # launch chosen by the method
    best: Row
    regret: Estimate | None  # t_automatic / t_best - 1


def maps(rows: list[Row]) -> list[LaunchMap]:
    """One map for each variant, problem and device with several launches."""
    return []
