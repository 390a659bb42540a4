# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time against one size: where portable is level with native, and what starting costs.

The crossover n* is the smallest size with portable / native <= 1 / 0.95 for it and all
larger ones. Its interval is of the bootstrap: n* of each resample of all the ratios,
which take the same program launches; infinite where no size qualifies.

Small sizes follow t = t0 + W / r, W the bytes (or operations) of the problem: t0 is the
start-up, r the rate of large sizes, and the half-performance size is where W / r = t0
(Hockney and Jesshope 1981; n_1/2 = t0 r / b at b bytes per element).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from .kinds import PORTABLE, PORTABLES
from .ratios import shared_launches
from .rows import Row
from .selection import measured, place, text_of
from .statistics import CONFIDENCE, Estimate, enough, ratio_resamples
from .units import about, exact, plain, seconds

PARITY = 1 / 0.95  # portable counts as level with native up to this ratio
MIN_SIZES = 3
MIN_SIZES_TO_FIT = 4  # two parameters, and something left to judge the fit by
USEFUL = 0.2  # a fit is told where no time lies further from it


@dataclass(frozen=True)
class Point:
    """One size of a sweep."""

    size: int
    portable: Row
    native: Row | None
    ratio: Estimate | None  # portable / native: above 1, portable is slower


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
    crossover: Estimate | None  # level with native from this size on; inf: at none
    portable_model: SmallSize | None


def sweeps(rows: list[Row]) -> list[Sweep]:
    """The size sweeps of portable methods."""
    by_case = {id(row.case): row for row in rows}
    groups: dict[tuple[object, object, str, str], list[Row]] = defaultdict(list)
    for row in measured(rows):
        case = row.case
        if case.kind not in PORTABLES or case.algorithm == "ceilings":
            continue
        how = (case.method_text, case.model)
        what = (case.algorithm, case.problem_name, *how, case.dtype)
        where = (*place(case), case.devices, case.setting, text_of(case.parameters))
        for size, value in case.sizes.items():
            if isinstance(value, int) and value > 0:  # sizes are drawn as logarithms
                groups[what, where, size, text_of(case.sizes, size)].append(row)
    found = []
    for (_, _, size, _), group in groups.items():
        distinct = {row.case.sizes[size]: row for row in group}
        if len(distinct) >= MIN_SIZES:
            found.append(make_sweep(size, dict(sorted(distinct.items())), by_case))
    return found


def make_sweep(size: str, group: dict[int, Row], by_case: dict[int, Row]) -> Sweep:
    """The sweep of rows by size, ascending."""
    points = []
    for value, row in group.items():
        native = row.ratio.native if row.ratio else None
        points.append(Point(value, row, by_case.get(id(native)), row.ratio))
    case = points[0].portable.case
    return Sweep(
        label=label(points[0].portable, size),
        algorithm=case.algorithm,
        device=case.device_name,
        size=size,
        points=points,
        crossover=crossover(points),
        portable_model=small_size([(p.size, p.portable) for p in points]),
    )


def label(row: Row, size: str) -> str:
    """What is measured, without the size that varies."""
    case = row.case
    launch = "" if case.setting == "auto" else case.setting.removeprefix("auto, ")
    sizes = " ".join(t for t in row.problem.split() if not t.startswith(f"{size}="))
    devices = f"{case.devices} devices" if case.devices > 1 else ""
    how = (case.method_text, "" if case.kind == PORTABLE else case.model)
    texts = (case.algorithm, *how, case.dtype, sizes, launch, devices)
    return f"{' '.join(filter(None, texts))}, {case.device_name}"


def first_level(ratios: np.ndarray) -> np.ndarray:
    """For ratios [sizes x samples], the place of n* in each sample; sizes: at none."""
    above = ratios > PARITY
    last = ratios.shape[0] - 1 - np.argmax(above[::-1], axis=0)
    return np.where(above.any(axis=0), last + 1, 0)


def crossover(points: list[Point]) -> Estimate | None:
    """n* and its interval, over the sizes that have a native row."""
    compared = [p for p in points if p.native and p.ratio]
    if len(compared) < MIN_SIZES:
        return None
    sizes = [*(float(p.size) for p in compared), math.inf]
    values = np.array([[p.ratio.value] for p in compared if p.ratio])
    value = sizes[int(first_level(values)[0])]
    resamples = [resampled(p) for p in compared]
    if any(one is None for one in resamples):
        return Estimate(value)
    starts = np.sort(first_level(np.array(resamples)))
    tail = (100 - CONFIDENCE) / 200 * (len(starts) - 1)
    low, high = starts[math.floor(tail)], starts[-1 - math.floor(tail)]
    return Estimate(value, sizes[low], sizes[high])


def resampled(point: Point) -> np.ndarray | None:
    """The bootstrap of the ratio at one size; None where an interval has no base."""
    assert point.native is not None
    native, portable = point.native.case, point.portable.case
    launches = shared_launches(native, portable)
    sides = [[case.launches[x] for x in launches] for case in (portable, native)]
    return ratio_resamples(*sides) if all(map(enough, sides)) else None


def small_size(rows: list[tuple[int, Row]]) -> SmallSize | None:
    """The fit with minimal relative squares and no negative parameter."""
    units = {row.rate_unit for _, row in rows}
    if len(rows) < MIN_SIZES_TO_FIT or len(units) != 1 or "" in units:
        return None
    moved = "GB/s" in units
    sizes = np.array([size for size, _ in rows], dtype=float)
    work = np.array([r.case.bytes if moved else r.case.operations for _, r in rows])
    times = np.array([row.median for _, row in rows], dtype=float)
    columns = np.stack([1 / times, work / times], axis=1)
    (start, slope), *_ = np.linalg.lstsq(columns, np.ones(len(rows)), rcond=None)
    if start < 0:  # then the best fit without start-up
        start, slope = 0.0, columns[:, 1].sum() / (columns[:, 1] ** 2).sum()
    if slope <= 0 or np.any(np.diff(work) <= 0):
        return None
    # between the sizes by interpolation, beyond them in proportion to the nearest
    work_at_half = start / slope
    half = float(np.interp(work_at_half, work, sizes))
    half *= min(1.0, work_at_half / work[0]) * max(1.0, work_at_half / work[-1])
    misfit = float(np.max(np.abs(columns @ [start, slope] - 1)))
    return SmallSize(float(start), float(1 / slope), half, misfit)


def statement(sweep: Sweep) -> str:
    """Where portable is level with native, as a sentence; empty without a native row at enough sizes."""
    at, size = sweep.crossover, sweep.size
    if at is None:
        return ""
    compared = [(p.size, p.ratio.value) for p in sweep.points if p.native and p.ratio]
    first, last = (exact(compared[place][0]) for place in (0, -1))
    slower = f"{plain(compared[-1][1])} times as long at {size} = {last}"
    level = f"within {100 * (1 - 1 / PARITY):.0f} % of native or faster"
    every = f"at every size measured, {size} = {first} to {last}"
    if at.value == compared[0][0]:
        text = f"portable is {level} {every}"
    elif math.isfinite(at.value):
        text = f"portable is {level} from {size} = {exact(at.value)} on, measured up to {last}"
    elif all(ratio > PARITY for _, ratio in compared):
        text = f"portable is slower than native {every}: it takes {slower}"
    else:
        text = f"portable is slower than native at the largest size measured: it takes {slower}"
    return text + doubt(at, size)


def doubt(at: Estimate, size: str) -> str:
    """The other results that the interval allows; empty where there are none."""
    if at.low is None or at.high is None or at.low == at.high:
        return ""
    low = f"{size} = {exact(at.low)}"
    if math.isfinite(at.high):
        return f" (95 %: from a size between {low} and {exact(at.high)} on)"
    where = "at no size" if math.isfinite(at.value) else f"from {low} on"
    return f" (not sure: the samples scatter so much that it may be level {where})"


def texts(found: list[Sweep]) -> list[str]:
    """The crossover of each sweep, and what starting costs where the fit is close.

    Sweeps at explicit launches are only in the figures.
    """
    lines = []
    for sweep in found:
        if sweep.points[0].portable.case.launch_source == "explicit":
            continue
        if text := statement(sweep):
            lines.append(f"{sweep.label}: {text}")
        fit = sweep.portable_model
        if fit and fit.misfit <= USEFUL:
            half = f"most of the time below {sweep.size} = {about(fit.half)}"
            lines.append(f"{sweep.label}: starting costs {seconds(fit.start)}, {half}")
    return lines
