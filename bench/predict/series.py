# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predicted series: strong (the same problem) and weak (the same work per device)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.report.scaling import ALIKE
from bench.report.statistics import Estimate, median, median_interval

from .model import Model, Predicted
from .points import Family, Point


@dataclass(frozen=True)
class Entry:
    """One number of devices of a series."""

    predicted: Predicted
    speedup: Estimate
    efficiency: Estimate
    measured: Estimate | None  # [s]
    fitted: bool  # whether that time entered the fit


@dataclass(frozen=True)
class Series:
    """One problem of a family on growing numbers of devices; the first is measured on one."""

    family: Family
    kind: str  # strong, weak
    base: Point
    start: float  # its measured time [s]
    entries: list[Entry]

    @property
    def sizes(self) -> str:
        """Of the problem on one device."""
        return " ".join(f"{k}={v}" for k, v in self.base.sizes)

    @property
    def name(self) -> str:
        """Distinct among all series of a machine."""
        return f"{self.kind} {self.family.label}, {self.family.engine}, {self.sizes}"


def middle(point: Point) -> float:
    """The median time [s]."""
    return median([sample for launch in point.launches for sample in launch])


def estimate(point: Point) -> Estimate:
    """The median time [s] and its interval."""
    interval = median_interval(point.launches)
    return Estimate(middle(point), *(interval or (None, None)))


def over(start: float, time: Estimate, scale: float) -> Estimate:
    """start / (scale x time)."""
    assert time.low is not None and time.high is not None
    ends = (start / scale / time.high, start / scale / time.low)
    return Estimate(start / scale / time.value, *ends)


def measured(family: Family, base: Point, kind: str, devices: int) -> Point | None:
    """The measured point of a series at a number of devices."""
    for point in family.points:
        if point.devices != devices:
            continue
        grown = base.work * devices
        weak = abs(point.work - grown) <= ALIKE * grown
        if point.sizes == base.sizes if kind == "strong" else weak:
            return point
    return None


def entry(
    model: Model, base: Point, kind: str, devices: int, used: Sequence[Point]
) -> Entry:
    """The prediction for a number of devices, beside what was measured there."""
    found = measured(model.family, base, kind, devices)
    work = base.work * (devices if kind == "weak" else 1)
    like = found or next((p for p in model.family.points if p.ranks > 1), base)
    per_rank = like.per_rank if like.ranks > 1 else None
    nodes = found.case.nodes if found else 1
    predicted = model.predict(base, devices, work, per_rank, nodes)
    start = middle(base)
    share = 1 if kind == "strong" else 1 / devices
    return Entry(
        predicted,
        over(start, predicted.time, share),
        over(start, predicted.time, share * devices),
        estimate(found) if found else None,
        found in used,
    )


def series_of(
    model: Model, used: Sequence[Point], counts: Sequence[int]
) -> Iterator[Series]:
    """Strong and weak scaling of every problem that was measured on one device."""
    family = model.family
    for base in family.points:
        if base.devices != 1:
            continue
        for kind in ("strong", "weak"):
            entries = [entry(model, base, kind, count, used) for count in counts]
            yield Series(family, kind, base, middle(base), entries)
