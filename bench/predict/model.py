# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time of a compute on any number of devices, with its interval.

t(N) = fixed + work_s x work / N + launch_s x (devices of a process - 1)
     + calls x (call_s + stage_s x stages + bytes / bandwidth)            within a node
     + calls x (stage_s x stages + bytes / bandwidth)                     between nodes
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bench.report.fields import Broken
from bench.report.statistics import (
    RESAMPLES,
    SEED,
    Estimate,
    Floats,
    draw_launches,
    median,
    percentiles,
    resampled_medians,
)

from . import fit
from .calls import Call
from .engines import Placed, columns
from .platform import Platform, Range
from .points import Collective, Family, Point

COLUMNS = (
    *("fixed", "work", "launch"),
    *("call", "stage", "byte", "network stage", "network byte"),
)
FIXED, WORK, LAUNCH, CALL, STAGE, BYTE, NETWORK_STAGE, NETWORK_BYTE = range(8)
NEAR = 64  # times the bytes, up and down: engines change their algorithms beyond


@dataclass(frozen=True)
class Predicted:
    """A problem on some devices, in the model."""

    place: Placed
    work: float
    time: Estimate  # [s]
    parts: dict[str, float]  # [s], the mean of every column: they add up


@dataclass(frozen=True)
class Model:
    """A fitted family."""

    family: Family
    platform: Platform
    draws: Floats  # [RESAMPLES x COLUMNS]
    spread: float  # of a single prediction, relative

    def predict(
        self,
        point: Point,
        devices: int,
        work: float,
        per_rank: int | None = None,
        nodes: int = 1,
    ) -> Predicted:
        """``point``: the measured one whose calls are made; ``work``: of all devices.

        ``per_rank``: devices of a process; None: one process drives those of a node. ``nodes``:
        the fewest that they are on.
        """
        per_node = self.platform.devices_per_node
        place = Placed(devices, max(nodes, math.ceil(devices / per_node)))
        each = min(place.within, per_rank or per_node)
        row = row_of(self.family.engine, place, each, work, resized(point, work))
        terms = self.draws * row
        rng = np.random.default_rng(SEED)
        noise = 1 + self.spread * rng.standard_normal(len(terms))
        times = terms.sum(axis=1) * noise
        low, high = percentiles(times)
        parts = dict(zip(COLUMNS, map(float, terms.mean(axis=0))))
        time = Estimate(float(np.median(terms.sum(axis=1))), low, high)
        return Predicted(place, work, time, parts)

    def parameters(self) -> dict[str, Estimate]:
        """The mean of every column; network ones are the platform's where nothing was measured."""
        ends = [percentiles(column) for column in self.draws.T]
        both = zip(COLUMNS, self.draws.mean(axis=0), ends)
        return {name: Estimate(float(m), *interval) for name, m, interval in both}


def resized(point: Point, work: float) -> tuple[Call, ...]:
    """What is gathered grows with the work; sums and halos do not."""
    grown = work / point.work
    return tuple(
        Call(c.kind, c.bytes * (grown if c.kind == "gather" else 1), c.count)
        for c in point.calls
    )


def row_of(
    engine: str, place: Placed, each: int, work: float, calls: tuple[Call, ...]
) -> Floats:
    """The columns of one time. ``each``: devices of a process; of a call alone 1, and no work."""
    row = np.zeros(len(COLUMNS))
    row[FIXED], row[WORK], row[LAUNCH] = float(work > 0), work / place.devices, each - 1
    for call in calls:
        row[CALL:] += call.count * np.array(
            columns(engine, call.kind, call.bytes, place)
        )
    return row


def scales(rows: Floats, times: Floats, platform: Platform) -> Floats:
    """Upper bound of each parameter: the value that alone would explain the loss at one of the points."""
    work = rows[:, WORK]
    rate = min(t / w for t, w in zip(times, work) if w > 0)
    lost = np.maximum(times - rate * work, 0) + fit.REPEAT * times
    share = np.maximum(1 - work / work.max(), 0.1)  # work_s is smaller then, too
    scale = np.full(len(COLUMNS), rate)
    scale[FIXED] = max((lost / share)[work > 0])
    for column in (LAUNCH, CALL, STAGE):
        some = rows[:, column] > 0
        each = (lost / share)[some] / rows[some, column]
        scale[column] = each.min() if some.any() else scale[FIXED] * fit.REPEAT
    node, network = platform.node, platform.network
    scale[BYTE] = 1 / node.bandwidth.low
    scale[NETWORK_STAGE] = network.latency_s.high
    scale[NETWORK_BYTE] = 1 / network.bandwidth.low
    return scale


def starts(scale: Floats, platform: Platform, rng: np.random.Generator) -> Floats:
    """Starting points of the draws: uniform below the scale; parameters of the platform file in their ranges."""
    start = rng.beta(0.5, 0.5, (RESAMPLES, len(scale))) * scale

    def within(ends: Range) -> Floats:
        low, high = np.log(ends.low), np.log(ends.high)
        found: Floats = np.exp(rng.uniform(low, high, RESAMPLES))
        return found

    start[:, BYTE] = 1 / within(platform.node.bandwidth)
    start[:, NETWORK_STAGE] = within(platform.network.latency_s)
    start[:, NETWORK_BYTE] = 1 / within(platform.network.bandwidth)
    return start


def near(measured: list[Collective], family: Family) -> list[Collective]:
    """The collectives of the family's engine and kinds with sizes near to those it sends.

    Where there are some of its execution, those: a call in a graph costs less.
    """
    kept: list[Collective] = []
    for call in {call for point in family.points for call in point.calls}:
        alike = [
            one
            for one in measured
            if (one.engine, one.kind) == (family.engine, call.kind)
            and call.bytes / NEAR <= max(one.bytes, 1) <= NEAR * max(call.bytes, 1)
        ]
        execution = family.points[0].case.execution
        same = [one for one in alike if one.execution in ("", execution)]
        kept += [one for one in same or alike if one not in kept]
    return kept


def require_enough(family: Family, points: list[Point], known: bool) -> None:
    """Raises Broken where the points cannot tell the parameters apart."""
    counts = {point.devices for point in points}
    loads = {(point.devices, point.work) for point in points}
    if not points:
        raise Broken(f"{family.label}: no point is left to fit")
    if len(counts) < 2 and not known:
        count = counts.pop()
        raise Broken(
            f"{family.label}: points of {count} device{'s' * (count > 1)} only, and no "
            "measured collectives: give another number of devices, or records of `collectives`"
        )
    if len(loads) < 2:
        raise Broken(
            f"{family.label}: one time cannot be split into fixed and shared work"
        )


def fitted(
    family: Family, points: list[Point], measured: list[Collective], platform: Platform
) -> Model:
    """The model of a family, from some of its points and what is known of its engine."""
    known = near(measured, family)
    require_enough(family, points, bool(known))
    engine, per_node = family.engine, platform.devices_per_node
    rows, medians, resampled = [], [], []
    rng = np.random.default_rng(SEED)
    for point in points:
        place = point.place(per_node)
        rows.append(row_of(engine, place, point.per_rank, point.work, point.calls))
        times = point.launches
        medians.append(median([sample for launch in times for sample in launch]))
        resampled.append(resampled_medians(times, draw_launches(len(times), rng), rng))
    for one in known:
        rows.append(row_of(engine, one.place, 1, 0, (Call(one.kind, one.bytes, 1),)))
        medians.append(one.seconds)
        resampled.append(np.full(RESAMPLES, one.seconds))
    matrix, times_s = np.array(rows), np.array(medians)
    drawn = np.array(resampled).T
    drawn *= 1 + fit.REPEAT * rng.standard_normal(drawn.shape)
    scale = scales(matrix, times_s, platform)
    found = fit.parameters(matrix, times_s, drawn, starts(scale, platform, rng), scale)
    own = len(points)
    spread = max(fit.REPEAT, fit.misfit(matrix[:own], times_s[:own], found))
    return Model(family, platform, found, spread)
