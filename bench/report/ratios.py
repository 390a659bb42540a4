# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Native over portable: which case is compared with which, and what comes of it.

A portable (kokkos) case is compared with the native case of the same algorithm, method,
type, sizes, parameters, devices, metric, build and kind of device, under the same
setting: launch and communicator. Where no native case has that setting, the fastest
portable one alone is compared with the fastest native one, and its note says so.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from . import statistics
from .case import Case

PORTABLE = "kokkos"
NATIVE = {"gpu": ("cuda", "hip"), "host": ("openmp",)}


@dataclass(frozen=True)
class Ratio:
    """Median native time over median portable time; above 1, portable is faster."""

    value: float
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    note: str = ""


def work(case: Case) -> tuple:
    """Equal for cases that do the same work in the same way on the same devices."""
    values = json.dumps([case.sizes, case.parameters], sort_keys=True)
    what = (case.algorithm, case.method, case.dtype, values, case.metric)
    return (*what, case.devices, *device(case), case.context.build)


def device(case: Case) -> tuple:
    """Kind and name of the device."""
    return (case.device_kind, case.device_name)


def pooled_median(launches: list[list[float]]) -> float:
    """The median of the samples of all launches."""
    return statistics.median(list(chain.from_iterable(launches)))


def ratio(native: Case, portable: Case, margin: float, note: str = "") -> Ratio:
    """The ratio over the program launches that both sides share."""
    shared = [launch for launch in portable.launches if launch in native.launches]
    if not shared:
        note = "; ".join(filter(None, [note, "native from another program launch"]))
        value = statistics.median(native.samples) / statistics.median(portable.samples)
        return Ratio(value, note=note)
    above = [native.launches[launch] for launch in shared]
    below = [portable.launches[launch] for launch in shared]
    value = pooled_median(above) / pooled_median(below)
    if not (statistics.enough(above) and statistics.enough(below)):
        return Ratio(value, note=note)
    low, high = statistics.ratio_interval(above, below)
    return Ratio(value, low, high, statistics.verdict(low, high, margin), note)


def fastest(cases: Iterable[Case]) -> Case:
    """The case of the lowest median."""
    return min(cases, key=lambda case: statistics.median(case.samples))


def compare(cases: Iterable[Case], margin: float) -> dict[int, Ratio]:
    """Ratios of the portable cases, by ``id`` of the case."""
    groups: dict[tuple, list[Case]] = defaultdict(list)
    for case in cases:
        if case.status == "passed":
            groups[work(case)].append(case)
    ratios: dict[int, Ratio] = {}
    for group in groups.values():
        portable = [case for case in group if case.model == PORTABLE]
        native = [c for c in group if c.model in NATIVE[c.device_kind]]
        if portable and native:
            ratios.update(compare_group(portable, native, margin))
    return ratios


def compare_group(portable, native, margin: float) -> dict[int, Ratio]:
    """Like with like; the best with the best where that says something else."""
    settings = {case.setting: case for case in native}
    best, rival = fastest(portable), fastest(native)
    ratios = {}
    for case in portable:
        same = settings.get(case.setting)
        if same is not None:
            note = ""
            if case is best and same is not rival:
                value = ratio(rival, best, margin).value
                note = f"best with best {value:.3g}: {rival.model} {rival.setting}"
            ratios[id(case)] = ratio(same, case, margin, note)
        elif case is best:
            note = f"best with best: {rival.model} {rival.setting}"
            ratios[id(case)] = ratio(rival, case, margin, note)
    return ratios
