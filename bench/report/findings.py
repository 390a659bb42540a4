# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What several rows say together: crossover sizes, and speed-up on several GPUs."""

from __future__ import annotations

from collections import defaultdict

from .ratios import device
from .rows import Row
from .statistics import median

PARITY = 0.95  # portable counts as level with native from this ratio
FEWEST_SIZES = 3


def passed(rows: list[Row]) -> list[Row]:
    """Rows with figures."""
    return [row for row in rows if row.median is not None]


def label(row: Row, setting: str) -> str:
    """What is measured, without its sizes."""
    case = row.case
    launch = "" if setting == "auto" else f" {setting.removeprefix('auto, ')}"
    return f"{case.algorithm} {case.method} {case.dtype}{launch}, {case.device_name}"


def crossovers(rows: list[Row]) -> list[str]:
    """From which size on portable keeps level with native: n* of each size sweep."""
    sweeps: dict[tuple, list[Row]] = defaultdict(list)
    for row in passed(rows):
        case = row.case
        if row.ratio is not None:
            name = label(row, case.setting)
            what = (name, case.devices, case.metric, case.context.build)
            fixed = repr(sorted(case.parameters.items()))
            sweeps[(*what, fixed, tuple(case.sizes))].append(row)
    texts = []
    for key, sweep in sweeps.items():
        varying = [s for s in key[-1] if len({str(r.case.sizes[s]) for r in sweep}) > 1]
        if len(varying) != 1:
            continue
        size = varying[0]
        found = sorted((row.case.sizes[size], row.ratio.value) for row in sweep)
        if len(found) < FEWEST_SIZES:
            continue
        below = [i for i, (_, value) in enumerate(found) if value < PARITY]
        first = below[-1] + 1 if below else 0
        where = "at no size up to " + str(found[-1][0])
        if first < len(found):
            where = f"from {size} = {found[first][0]} on"
        texts.append(f"{key[0]}: portable is level with native {where}")
    return texts


def host_time(row: Row) -> float:
    """Time on the host clock [s], the only one that counts several devices; or 0."""
    if row.case.metric != "device_time":
        return row.median
    return median(row.case.latencies) if row.case.latencies else 0.0


def scaling(rows: list[Row]) -> list[str]:
    """Speed-up over one GPU at fixed sizes; host devices never enter."""
    ones: dict[tuple, float] = {}  # one GPU has no communicator: it begins all series
    series: dict[tuple, dict[int, float]] = defaultdict(dict)
    for row in passed(rows):
        case = row.case
        if case.device_kind == "gpu":
            what = (label(row, case.launch), case.model, row.sizes, device(case))
            what = (*what, case.context.build)
            if case.devices == 1:
                ones[what] = host_time(row)
            else:
                name = label(row, case.setting)
                series[(name, *what)][case.devices] = host_time(row)
    texts = []
    for (name, *what), times in series.items():
        one = ones.get(tuple(what), 0.0)
        gains = [f"{one / t:.2f}x on {n}" for n, t in sorted(times.items()) if t]
        if one and gains:
            model, sizes = what[1:3]
            texts.append(f"{name}, {model}, {sizes}: {', '.join(gains)}")
    return texts
