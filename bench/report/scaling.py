# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strong and weak scaling over GPUs, over ranks of hosts with a device each, and over the threads of a host.

Host devices of one process run in turn and never enter. A series over threads is of one device, by the
study's key ``threads``.

Speed-up S(N) = t_1 / t_N. Efficiency: strong (the same problem) t_1 / (N t_N), weak (the
same size and work per device) t_1 / t_N. All times are on the host's clock: the makespan of
several devices, the latency of one. Intervals are those of t_N alone; t_1 counts as known.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass

from .case import Case
from .rows import Row
from .selection import engine, host_clock, measured, text_of
from .statistics import Estimate

BATCH = "batch"  # images of a step: split over the devices, as rows are
ALIKE = 0.05  # work per device that differs by less counts as the same


@dataclass(frozen=True)
class ScalingPoint:
    """One number of devices, or of threads; times are on the host's clock.

    Speed-up: work in the same time, over that of one device (of weak scaling "scaled speed-up": J. L. Gustafson,
    Reevaluating Amdahl's law, 1988); efficiency: speed-up a device.
    """

    count: int
    row: Row
    time: Estimate  # [s]
    speedup: Estimate
    efficiency: Estimate


@dataclass(frozen=True)
class Scaling:
    """One variant over numbers of devices, or of threads, the first of them 1."""

    label: str
    algorithm: str
    method: str
    model: str
    device: str
    communicator: str  # with the devices per rank; empty where one process has all, and it is the usual one
    kind: str  # strong: the same problem; weak: the same size a device
    sizes: str  # of the smallest run
    points: list[ScalingPoint]
    over: str  # devices or threads


def scalings(rows: list[Row]) -> list[Scaling]:
    """All series of at least two numbers of devices or threads: strong ones first."""
    timed = [
        row
        for row in measured(rows)
        if at_once(row.case) and host_clock(row) is not None
    ]
    ones: dict[tuple[object, ...], list[Row]] = defaultdict(
        list
    )  # they begin all series
    several: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in timed:
        key = variant(row.case)
        if count_of(row.case) == 1:
            ones[key].append(row)
        else:
            several[(*key, *how_joined(row.case))].append(row)
    found = []
    for key, group in several.items():
        for one in ones[key[:-2]]:
            found.append(series("strong", one, [r for r in group if strong(one, r)]))
            found.append(series("weak", one, [r for r in group if weak(one, r)]))
    whole = [scaling for scaling in found if scaling]
    return sorted(whole, key=lambda scaling: scaling.kind)


def at_once(case: Case) -> bool:
    """Whether the devices of a case work at the same time."""
    return case.device_kind == "gpu" or case.devices == case.ranks


def threads_of(case: Case) -> int:
    """How many threads the study gave it; 0 where it did not say."""
    return int(case.parameters.get("threads", 0))


def count_of(case: Case) -> int:
    """What grows along a series: threads where the study says how many, else devices."""
    return threads_of(case) or case.devices


def how_joined(case: Case) -> tuple[str, str]:
    """The communicator, where it is not the usual one, and how ranks share the devices."""
    each = case.devices // case.ranks
    shared = f"{each} device{'' if each == 1 else 's'} per rank"
    return engine(case), shared if case.ranks > 1 else ""


def variant(case: Case) -> tuple[object, ...]:
    """Equal for cases that differ in sizes, devices or threads, and communicator only."""
    how = (case.method_text, case.model)
    what = (case.algorithm, case.problem_name, *how, case.dtype)
    where = (case.device_name, case.context.build, case.launch)
    over = case.devices if threads_of(case) else None
    others = {k: v for k, v in case.parameters.items() if k not in ("threads", BATCH)}
    return (*what, *where, over, text_of(others))


def extents(case: Case) -> dict[str, int]:
    """The sizes, and the batch of a training."""
    batch = case.parameters.get(BATCH)
    return case.sizes if batch is None else {**case.sizes, BATCH: int(batch)}


def strong(one: Row, row: Row) -> bool:
    """Whether this is the same problem on more devices."""
    return extents(one.case) == extents(row.case)


def weak(one: Row, row: Row) -> bool:
    """Whether one size, and with it the work, grew with the devices or threads."""
    small, large, count = one.case, row.case, count_of(row.case)
    before, after = extents(small), extents(large)
    if set(before) != set(after):
        return False
    grown = [name for name in before if before[name] != after[name]]
    if len(grown) != 1 or before[grown[0]] * count != after[grown[0]]:
        return False
    pairs = [(small.operations, large.operations)]
    if grown != [BATCH]:  # every device has all parameters: their bytes do not grow
        pairs.append((small.bytes, large.bytes))
    return all(abs(b - a * count) <= ALIKE * a * count for a, b in pairs if a)


def series(kind: str, one: Row, rows: list[Row]) -> Scaling | None:
    """The series that begins with this row on one device or thread; None without another."""
    start = host_clock(one)
    if not rows or start is None:
        return None
    case, last = one.case, rows[-1].case
    distinct = {count_of(row.case): row for row in [one, *rows]}
    points = [point(kind, start, distinct[count]) for count in sorted(distinct)]
    sizes = re.sub(r" ?\bthreads=\d+", "", one.problem).strip()
    texts = (case.algorithm, case.method_text, case.model, case.dtype, sizes)
    launch = "" if case.launch == "auto" else case.launch
    words = " ".join(filter(None, [*texts, launch, *how_joined(last)]))
    return Scaling(
        label=f"{words}, {case.device_name}",
        algorithm=case.algorithm,
        method=case.way,
        model=case.model,
        device=case.device_name,
        communicator=" ".join(filter(None, how_joined(last))),
        kind=kind,
        sizes=sizes,
        points=points,
        over="threads" if threads_of(case) else "devices",
    )


def point(kind: str, start: float, row: Row) -> ScalingPoint:
    """One point; ``start`` is the time on one device or thread [s]."""
    value, count = host_clock(row) or start, count_of(row.case)
    known = count > 1 and row.low is not None and row.high is not None
    time = Estimate(value, row.low, row.high) if known else Estimate(value)

    def over(scale: float) -> Estimate:
        low = start / scale / time.high if time.high else None
        high = start / scale / time.low if time.low else None
        return Estimate(start / scale / value, low, high)

    share = 1 if kind == "strong" else 1 / count
    return ScalingPoint(count, row, time, over(share), over(share * count))


def texts(found: list[Scaling]) -> list[str]:
    """Speed-ups (strong) or efficiencies (weak), one line per series."""
    lines = []
    for one in found:
        later = one.points[1:]
        if one.kind == "strong":
            gains = [f"{p.speedup.value:.2f}x on {p.count}" for p in later]
        else:
            gains = [f"{100 * p.efficiency.value:.0f} % on {p.count}" for p in later]
        what = f" {one.over}" if one.over != "devices" else ""
        lines.append(f"{one.kind} scaling of {one.label}: {', '.join(gains)}{what}")
    return lines
