# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CPU against GPU over one size: from where on the GPU is faster.

At each size the best variant of either kind, peers apart, on the host's clock: device
times and latencies do not mix. Between the last size at which the CPU is faster and the first
from which on the GPU is, log(time ratio) is interpolated over log(size).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace

from . import end_to_end
from .kinds import PEER
from .rows import Row
from .selection import host_clock, measured, text_of
from .statistics import Estimate
from .units import about, exact, seconds


@dataclass(frozen=True)
class SizePoint:
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
    points: list[SizePoint]  # at least two, ascending
    crossover: (
        Estimate | None
    )  # the interval: the sizes around; None: one is always faster
    copied: bool = False  # with the copies from and to the host


Clock = Callable[[Row], float | None]


def device_crossovers(
    rows: list[Row], clock: Clock = host_clock, peers: bool = False
) -> list[DeviceCrossover]:
    """CPU against GPU, where both measured the same problems at two sizes or more."""
    groups: dict[tuple[object, object, str], dict[int, list[Row]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in measured(rows):
        case = row.case
        timed = case.devices == 1 and (case.kind == PEER) == peers and clock(row)
        if not timed or case.algorithm == "ceilings":
            continue
        what = (case.algorithm, case.problem_name, case.dtype, case.context.build)
        for size, value in case.sizes.items():
            if isinstance(value, int) and value > 0:  # compared as logarithms
                fixed = (text_of(case.sizes, size), text_of(case.parameters))
                groups[what, fixed, size][value].append(row)
    found = []
    for (_, _, size), by_value in groups.items():
        points = [point_at(value, by_value[value], clock) for value in sorted(by_value)]
        measured_points = [point for point in points if point]
        if len(measured_points) > 1:
            found.append(make_crossover(size, measured_points))
    return found


def end_to_end_crossovers(rows: list[Row]) -> list[DeviceCrossover]:
    """The same from host to host, in each kind of memory and state; Python peers by themselves."""
    found = []
    for way in end_to_end.WAYS:

        def clock(row: Row, way: tuple[str, str] = way) -> float | None:
            return row.end_to_end[way][0] if way in row.end_to_end else None

        for peers, who in ((False, ""), (True, ", Python peers")):
            text = f"from host to host in {way[0]} memory, {way[1]}{who}"
            found += [
                replace(one, label=f"{one.label} {text}", copied=True)
                for one in device_crossovers(rows, clock, peers)
            ]
    return found


def point_at(size: int, rows: list[Row], clock: Clock) -> SizePoint | None:
    """The best of either kind; None where one is absent."""
    best: dict[str, tuple[float, Row]] = {}
    for row in rows:
        time = clock(row) or math.inf
        kind = row.case.device_kind
        if kind not in best or time < best[kind][0]:
            best[kind] = (time, row)
    if len(best) < 2:
        return None
    (cpu_time, cpu), (gpu_time, gpu) = best["host"], best["gpu"]
    return SizePoint(size, cpu, gpu, cpu_time, gpu_time)


def make_crossover(size: str, points: list[SizePoint]) -> DeviceCrossover:
    """The crossover of points by size, ascending."""
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


def crossing(points: list[SizePoint]) -> Estimate | None:
    """From where on the GPU stays faster; None where one side always is.

    A GPU that is slower at the largest size has no crossover either.
    """
    slower = [i for i, point in enumerate(points) if point.gpu_time >= point.cpu_time]
    if not slower or slower[-1] + 1 == len(points):
        return None
    before, after = points[slower[-1]], points[slower[-1] + 1]
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
    """One line per crossover."""
    lines = []
    for one in found:
        last = one.points[-1]
        ends = f"{seconds(last.gpu_time)} against {seconds(last.cpu_time)}"
        end = f"{ends} at {one.size} = {exact(last.size)}"
        text = f"{one.label}: {one.gpu} is faster than {one.cpu} {where(one)} ({end})"
        lines.append(text)
    return lines
