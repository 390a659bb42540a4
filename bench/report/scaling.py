# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strong and weak scaling over GPUs; host devices run in turn and never enter."""

from __future__ import annotations

from dataclasses import dataclass

from .rows import Row
from .statistics import Estimate


@dataclass(frozen=True)
class ScalingPoint:
    """One number of devices; times are on the host's clock."""

    devices: int
    row: Row
    time: Estimate  # [s]
    speedup: Estimate
    efficiency: Estimate


@dataclass(frozen=True)
class Scaling:
    """One variant over numbers of devices, the first of them 1."""

    label: str
    algorithm: str
    method: str
    model: str
    device: str
    communicator: str  # empty where nothing is exchanged
    kind: str  # strong: the same problem; weak: the same size a device
    sizes: str  # of the smallest run
    points: list[ScalingPoint]


def scalings(rows: list[Row]) -> list[Scaling]:
    """All series of at least two numbers of devices."""
    return []
