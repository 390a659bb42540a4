# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CPU against GPU over one size: from where on the GPU is worth its start-up.

At each size the best variant of either kind, peers apart, on the host's clock: device
times and latencies do not mix. Between the last size at which the CPU wins and the first
from which on the GPU does, log(time ratio) is interpolated over log(size).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from .models import COMPILED
from .rows import Row
from .selection import host_clock, measured, text_of
from .statistics import Estimate
from .units import about, exact, seconds


@dataclass(frozen=True)
class Duel:
    """The best variant on the CPU and on the GPU at one size, on the host's clock."""

    size: int
    cpu: Row
    gpu: Row
    cpu_time: float  # one compute [s]
    gpu_time: float


@dataclass(frozen=True)
class DeviceCrossover:
    """From which size on a GPU is faster than the CPU beside it."""

    label: str
    algorithm: str
    cpu: str  # names of the devices
    gpu: str
    size: str
    points: list[Duel]  # at least two, ascending
    crossover: Estimate | None  # the interval: the sizes around; None: one always wins


def device_crossovers(rows: list[Row]) -> list[DeviceCrossover]:
    """CPU against GPU, where both measured the same problems at two sizes or more."""
    groups: dict[tuple[object, object, str], dict[int, list[Row]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in measured(rows):
        case = row.case
        timed = case.devices == 1 and case.model in COMPILED and host_clock(row)
        if not timed or case.algorithm == "ceilings":
            continue
        what = (case.algorithm, case.problem_name, case.dtype, case.context.build)
        for size, value in case.sizes.items():
            if isinstance(value, int) and value > 0:  # compared as logarithms
                fixed = (text_of(case.sizes, size), text_of(case.parameters))
                groups[what, fixed, size][value].append(row)
    found = []
    for (_, _, size), by_value in groups.items():
        points = [duel(value, by_value[value]) for value in sorted(by_value)]
        fought = [point for point in points if point]
        if len(fought) > 1:
            found.append(make_crossover(size, fought))
    return found


def duel(size: int, rows: list[Row]) -> Duel | None:
    """The best of either kind; None where one is absent."""
    best: dict[str, tuple[float, Row]] = {}
    for row in rows:
        time = host_clock(row) or math.inf
        kind = row.case.device_kind
        if kind not in best or time < best[kind][0]:
            best[kind] = (time, row)
    if len(best) < 2:
        return None
    (cpu_time, cpu), (gpu_time, gpu) = best["host"], best["gpu"]
    return Duel(size, cpu, gpu, cpu_time, gpu_time)


def make_crossover(size: str, points: list[Duel]) -> DeviceCrossover:
    """The crossover of duels by size, ascending."""
    case = points[0].gpu.case
    sizes = points[0].gpu.problem.split()
    fixed = " ".join(text for text in sizes if not text.startswith(f"{size}="))
    texts = (case.algorithm, case.problem_name, case.dtype, fixed)
    return DeviceCrossover(
        label=" ".join(filter(None, texts)),
        algorithm=case.algorithm,
        cpu=points[0].cpu.case.device_name,
        gpu=case.device_name,
        size=size,
        points=points,
        crossover=crossing(points),
    )


def crossing(points: list[Duel]) -> Estimate | None:
    """Where the GPU begins to win for good; None where one side always wins.

    A GPU that loses at the largest size has no crossover either.
    """
    lost = [i for i, point in enumerate(points) if point.gpu_time >= point.cpu_time]
    if not lost or lost[-1] + 1 == len(points):
        return None
    before, after = points[lost[-1]], points[lost[-1] + 1]
    ends = [math.log(p.cpu_time / p.gpu_time) for p in (before, after)]
    share = -ends[0] / (ends[1] - ends[0])
    value = before.size * (after.size / before.size) ** share
    return Estimate(value, float(before.size), float(after.size))


def where(one: DeviceCrossover) -> str:
    """``from about n = 400 on, measured at 100 and 1,600``."""
    first, last = one.points[0], one.points[-1]
    if at := one.crossover:
        between = " and ".join(exact(end) for end in (at.low, at.high))
        return f"from about {one.size} = {about(at.value)} on, measured at {between}"
    if last.gpu_time < last.cpu_time:
        return f"at every size measured, {one.size} = {exact(first.size)} to {exact(last.size)}"
    return f"at no size measured up to {one.size} = {exact(last.size)}"


def texts(found: list[DeviceCrossover]) -> list[str]:
    """One line a crossover."""
    lines = []
    for one in found:
        last = one.points[-1]
        ends = f"{seconds(last.gpu_time)} against {seconds(last.cpu_time)}"
        end = f"{ends} at {one.size} = {exact(last.size)}"
        text = f"{one.label}: {one.gpu} is faster than {one.cpu} {where(one)} ({end})"
        lines.append(text)
    return lines
