# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the league table: every case with all that is derived from it."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass

from . import statistics
from .case import Case
from .floors import Ceilings, Floor, floor_of, in_cache, measured_ceilings
from .models import COLUMNS
from .ratios import Ratio, compare, refusals
from .units import seconds

TRANSFERS = {"upload", "download"}  # stages around a compute, not of it
COPIES = {"copy in", "copy out"}  # stages that may run beside kernels
OVERLAP = 0.95  # below this share of the sum of its stages, a case overlaps them
BEATEN = 0.99  # of its floor: below, the ceilings are of a slower device of this name


@dataclass
class Row:
    """A case and its figures; None and empty texts where there is none."""

    case: Case
    sizes: str
    median: float | None
    low: float | None
    high: float | None
    ratio: Ratio | None
    floor_ratio: float | None  # to the floor of the method's own unit
    best_floor_ratio: float | None  # to that of the best unit for the problem
    rate: float | None
    rate_unit: str
    verdict: str
    reason: str
    note: str

    @property
    def latency(self) -> float | None:
        """The median time from one launch to its fence [s]."""
        latencies = self.case.latencies
        return statistics.median(latencies) if latencies else None


def telling_parameters(cases: list[Case]) -> dict[str, set[str]]:
    """For each algorithm, the parameters that tell its cases apart.

    These are the ones in the names of cases (not at their default) and the ones that
    differ between cases.
    """
    values: dict[tuple[object, ...], set[str]] = defaultdict(set)
    telling: dict[str, set[str]] = defaultdict(set)
    for case in cases:
        named = {part.split(":")[0] for part in case.name.split("/")}
        for key, value in case.parameters.items():
            seen = values[case.algorithm, key]
            seen.add(json.dumps(value))
            if key in named or len(seen) > 1:
                telling[case.algorithm].add(key)
    return telling


def sizes_text(case: Case, telling: dict[str, set[str]]) -> str:
    """``n=1048576`` and the like, joined by spaces."""
    pairs = list(case.sizes.items())
    for key, value in case.parameters.items():
        if key in telling[case.algorithm] and key not in case.sizes:
            pairs.append((key, value))
    return " ".join(f"{key}={value}" for key, value in pairs)


def can_overlap(case: Case) -> bool:
    """Whether parts of a compute may run at the same time.

    GPUs work beside each other, and copies beside the kernels of a GPU. Else a sum of
    stages above the whole is what tracing each of them costs.
    """
    copied = len(case.stages) > 1 and bool(COPIES & case.stages.keys())
    return case.device_kind == "gpu" and (case.devices > 1 or copied)


def counts_text(case: Case, to: str) -> dict[str, str]:
    """``123456`` by name; where launches of the program differ, the range."""
    ends = {k: dict.fromkeys((min(v), max(v))) for k, v in case.counts.items()}
    return {name: to.join(map(str, pair)) for name, pair in ends.items()}


def remarks(case: Case, middle: float, floor: Floor, ratio_note: str) -> str:
    """What a reader must know before quoting the row, whose median is ``middle`` [s]."""
    under = floor.seconds and middle < BEATEN * floor.seconds
    above = "faster than the ceilings measured" if under else ""
    notes = [case.launch_note, "in cache" if in_cache(case) else above]
    taken = f"{case.communicator} took {', '.join(case.engines)}"
    notes += [taken if case.engines else "", floor.note, ratio_note]
    counts = counts_text(case, " to ")
    notes += [f"{name.replace('_', ' ')}: {text}" for name, text in counts.items()]
    computing = {
        name: times for name, times in case.stages.items() if name not in TRANSFERS
    }
    total = sum(statistics.median(times) for times in computing.values())
    share = middle / total if total > 0 else 1.0
    if can_overlap(case) and share < OVERLAP:
        notes.append(f"overlap: {share:.2f} of the sum of its stages")
    return "; ".join(filter(None, notes))


def build_row(
    case: Case, sizes: str, ceilings: Ceilings | None, ratio: Ratio | None, refused: str
) -> Row:
    """One row."""
    if case.status != "passed":
        verdict = "FAILED" if case.status == "failed" else "skipped"
        none = (None,) * 7
        return Row(case, sizes, *none, "", verdict, case.reason, "")
    middle = statistics.median(case.samples)
    launches = list(case.launches.values())
    low, high = statistics.median_interval(launches) or (None, None)
    reason = case.reason
    if low is None:
        ends = f"{seconds(min(case.samples))} .. {seconds(max(case.samples))}"
        plural = "s" if len(case.samples) > 1 else ""
        text = f"{len(case.samples)} sample{plural}, range {ends}"
        reason = "; ".join(filter(None, [reason, text]))
    floor = floor_of(case, ceilings, case.unit)
    best = floor_of(case, ceilings, case.best_unit or case.unit)
    moved = case.bytes and floor.bytes_bind or not case.operations
    amount = case.bytes if moved else case.operations
    return Row(
        case=case,
        sizes=sizes,
        median=middle,
        low=low,
        high=high,
        ratio=ratio,
        floor_ratio=middle / floor.seconds if floor.seconds else None,
        best_floor_ratio=middle / best.seconds if best.seconds else None,
        rate=amount / middle * 1e-9 if amount else None,
        rate_unit=("GB/s" if moved else "GFLOP/s") if amount else "",
        verdict=ratio.verdict if ratio else "",
        reason=reason,
        note=remarks(case, middle, floor, ratio.note if ratio else refused),
    )


def build_rows(cases: list[Case], margin: float) -> list[Row]:
    """All rows, comparison after comparison, portable beside native."""
    telling = telling_parameters(cases)
    ratios = compare(cases, margin)
    refused = refusals(cases, ratios)
    ceilings = measured_ceilings(cases)
    methods: dict[tuple[object, ...], int] = {}
    for case in cases:
        methods.setdefault((case.algorithm, case.method_text), len(methods))

    def order(case: Case) -> tuple[object, ...]:
        first = (case.algorithm != "ceilings", case.algorithm, case.dtype)
        sizes = [
            value if isinstance(value, (int, float)) else 0
            for value in case.sizes.values()
        ]
        model = COLUMNS.index(case.model) if case.model in COLUMNS else len(COLUMNS)
        comparison = (case.devices, sizes, case.comparison, repr(case.context.build))
        method = methods[case.algorithm, case.method_text]
        device = (case.device_kind != "host", case.device_name)
        launch = (case.launch != "auto", case.launch)
        last = (model, case.model, *launch, case.setting != case.launch, case.setting)
        return (*first, *comparison, method, *device, *last)

    return [
        build_row(
            case,
            sizes_text(case, telling),
            ceilings.get((case.device_kind, case.device_name)),
            ratios.get(id(case)),
            refused.get(id(case), ""),
        )
        for case in sorted(cases, key=order)
    ]
