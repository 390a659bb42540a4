# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time against one size: ratio, crossover, small-size model; and CPU against GPU."""

from __future__ import annotations

from dataclasses import dataclass

from .rows import Row
from .statistics import Estimate


@dataclass(frozen=True)
class Point:
    """One size of a sweep."""

    size: int
    portable: Row
    native: Row | None
    ratio: Estimate | None  # native / portable: above 1, portable is faster


@dataclass(frozen=True)
class SmallSize:
    """t = start + work / rate, fitted over the sizes."""

    start: float  # [s]
    rate: float  # bytes or operations per second
    half: float  # the size at which half of the time is start-up
    misfit: float  # the largest relative residual


@dataclass(frozen=True)
class Sweep:
    """One method over sizes; at least three sizes, ascending."""

    label: str
    algorithm: str
    device: str
    size: str  # the name of the size that varies
    points: list[Point]
    crossover: Estimate | None  # portable is level with native from this size on
    portable_model: SmallSize | None
    native_model: SmallSize | None


@dataclass(frozen=True)
class Duel:
    """The best variant on the CPU and on the GPU at one size, on the host's clock."""

    size: int
    cpu: Row
    gpu: Row
    cpu_time: float  # latency [s]
    gpu_time: float


@dataclass(frozen=True)
class DeviceCrossover:
    """From which size on a GPU is faster than the CPU beside it."""

    label: str
    algorithm: str
    cpu: str  # names of the devices
    gpu: str
    size: str
    points: list[Duel]
    crossover: Estimate | None  # interpolated; the interval is the pair of sizes around


def sweeps(rows: list[Row]) -> list[Sweep]:
    """The size sweeps of portable methods."""
    return []


def device_crossovers(rows: list[Row]) -> list[DeviceCrossover]:
    """CPU against GPU, where both measured the same problems at two sizes or more."""
    return []
