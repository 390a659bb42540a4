# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of the league table: every case with all that is derived from it."""

from __future__ import annotations

from dataclasses import dataclass, field

from . import detectable, end_to_end, end_to_end_times, hosts, statistics
from .bounds import (
    CACHE,
    COPIES,
    LATENCY,
    ROOFLINE,
    impossible,
    latency_bound,
    limit_of,
    method_bound,
    problem_bound,
)
from .case import Case
from .kinds import NATIVE, PORTABLE, REFERENCE, SPECIALISED
from .merge import failed
from .peaks import Ceilings, measured_ceilings
from .problems import short_texts, whole_texts
from .ratios import Ratio, compare, refusals
from .statistics import Estimate
from .units import seconds

TRANSFERS = {"upload", "download"}  # stages around a compute, not of it
OVERLAP = 0.95  # below this share of the sum of its stages, a case overlaps them
BEATEN = 0.99  # of its roofline bound: below, the ceilings are of a slower device of this name
ORDER = {  # of the kinds of models beside each other
    "host": (REFERENCE, NATIVE, PORTABLE, SPECIALISED),
    "gpu": (REFERENCE, PORTABLE, SPECIALISED, NATIVE),
}


@dataclass
class Row:
    """A case and its figures; None and empty texts where there is none."""

    case: Case
    sizes: str  # and parameters, whole: for machines
    problem: str  # the same, as short as the table allows: for people
    median: float | None = None
    low: float | None = None
    high: float | None = None
    ratio: Ratio | None = None
    detectable: float | None = None  # smallest difference that a verdict would find
    floor_ratio: float | None = None  # time over the roofline bound of the method
    best_floor_ratio: float | None = None  # over that of the problem
    limit: str = ""  # roofline, or why it is not: see bounds.py
    latency_share: float | None = None  # of the time, what starting its steps takes
    energy: float | None = None  # of one compute [J], and its interval
    energy_low: float | None = None
    energy_high: float | None = None
    end_to_end: dict[tuple[str, str], end_to_end_times.Times] = field(
        default_factory=dict
    )  # by memory and state
    rate: float | None = None
    rate_unit: str = ""
    verdict: str = ""
    reason: str = ""
    note: str = ""

    @property
    def roofline_share(self) -> float | None:
        """The roofline bound over the time, where a bandwidth or a rate is the limit."""
        if self.limit not in (ROOFLINE, CACHE) or not self.floor_ratio:
            return None
        return 1 / self.floor_ratio

    @property
    def latency(self) -> float | None:
        """The median time from one launch to its fence [s]."""
        latencies = self.case.latencies
        return statistics.median(latencies) if latencies else None


def can_overlap(case: Case) -> bool:
    """Whether parts of a compute may run at the same time.

    GPUs work beside each other, and copies beside the kernels of a GPU. Else a sum of
    stages above the whole is what tracing each of them costs.
    """
    copied = len(case.stages) > 1 and bool(COPIES & case.stages.keys())
    return case.device_kind == "gpu" and (case.devices > 1 or copied)


def remarks(case: Case, middle: float, roofline_note: str, ratio_note: str) -> str:
    """Remarks on a row, whose median is ``middle`` [s]: limits of what its time means."""
    taken = f"{case.communicator} took {', '.join(case.engines)}"
    notes = [case.launch_note, taken if case.engines else "", roofline_note, ratio_note]
    if case.energy_reason and not case.energies:
        notes.append(f"no energy: {case.energy_reason}")
    notes += [hosts.note(case), *end_to_end.notes(case)]
    computing = {
        name: times for name, times in case.stages.items() if name not in TRANSFERS
    }
    total = sum(statistics.median(times) for times in computing.values())
    share = middle / total if total > 0 else 1.0
    if can_overlap(case) and share < OVERLAP:
        notes.append(f"overlap: {share:.2f} of the sum of its stages")
    return "; ".join(filter(None, notes))


def build_row(
    case: Case,
    texts: tuple[str, str],
    ceilings: Ceilings | None,
    ratio: Ratio | None,
    refused: str,
    margin: float,
) -> Row:
    """One row; ``texts`` are its sizes and its problem."""
    if case.status != "passed":
        verdict = "FAILED" if case.status == "failed" else "skipped"
        return Row(case, *texts, verdict=verdict, reason=case.reason)
    middle = statistics.median(case.samples)
    launches = list(case.launches.values())
    low, high = statistics.median_interval(launches) or (None, None)
    reason = case.reason
    if low is None:
        ends = f"{seconds(min(case.samples))} .. {seconds(max(case.samples))}"
        plural = "s" if len(case.samples) > 1 else ""
        text = f"{len(case.samples)} sample{plural}, range {ends}"
        reason = "; ".join(filter(None, [reason, text]))
    joules = list(case.energies.values())
    energy = (
        statistics.median([one for some in joules for one in some]) if joules else None
    )
    energy_ends = statistics.median_interval(joules) if joules else None
    bound, best = method_bound(case, ceilings), problem_bound(case, ceilings)
    operations = case.method_operations or case.operations
    moved = case.bytes and bound.bytes_bind or not operations
    amount = case.moved_bytes if moved else operations
    limit = limit_of(case, bound, ceilings, middle)
    starting = latency_bound(case, ceilings)
    under = limit in (ROOFLINE, CACHE) and middle < BEATEN * (bound.seconds or 0.0)
    above = "faster than the ceilings measured" if under else ""
    about_roofline = bound.note or above if limit in (ROOFLINE, CACHE, "") else ""
    return Row(
        case,
        *texts,
        median=middle,
        low=low,
        high=high,
        ratio=ratio,
        detectable=detectable.of_ratio(ratio, margin)
        or detectable.of_median(Estimate(middle, low, high), margin),
        floor_ratio=middle / bound.shown if bound.shown else None,
        best_floor_ratio=middle / best.shown if best.shown else None,
        limit=limit,
        latency_share=starting / middle if starting and limit == LATENCY else None,
        energy=energy,
        energy_low=energy_ends[0] if energy_ends else None,
        energy_high=energy_ends[1] if energy_ends else None,
        end_to_end=end_to_end_times.times(case),
        rate=amount / middle * 1e-9 if amount else None,
        rate_unit=("GB/s" if moved else "GFLOP/s") if amount else "",
        verdict=ratio.verdict if ratio else "",
        reason=reason,
        note=remarks(case, middle, about_roofline, ratio.note if ratio else refused),
    )


def sifted(cases: list[Case], ceilings: dict[tuple[str, str], Ceilings]) -> list[Case]:
    """The cases; those that took less time than their problem needs are failed, and have no samples.

    Peaks that were measured on a busy machine fail none.
    """

    def judged(case: Case) -> Case:
        peaks = ceilings.get((case.device_kind, case.device_name))
        if case.status != "passed" or peaks is None or not case.samples:
            return case
        if not peaks.steady:
            return case
        time = statistics.median(case.samples)
        reason = impossible(case, problem_bound(case, peaks), time)
        return failed(case, reason) if reason else case

    return [judged(case) for case in cases]


def impossible_rows(rows: list[Row]) -> list[str]:
    """A text for each case that took less time than its problem needs."""
    found = [row.case for row in rows if row.case.impossible]
    return [f"{case.name}: FAILED: {case.reason}" for case in found]


def build_rows(cases: list[Case], margin: float) -> list[Row]:
    """All rows, comparison after comparison, portable beside native."""
    ceilings = measured_ceilings(cases)
    cases = sifted(cases, ceilings)
    sizes, problems = whole_texts(cases), short_texts(cases)
    ratios = compare(cases, margin)
    refused = refusals(cases, ratios)
    methods: dict[tuple[object, ...], int] = {}
    for case in cases:
        methods.setdefault((case.algorithm, case.method_text), len(methods))

    def order(case: Case) -> tuple[object, ...]:
        first = (case.algorithm != "ceilings", case.algorithm, case.dtype)
        sizes = [
            value if isinstance(value, (int, float)) else 0
            for value in case.sizes.values()
        ]
        kinds = ORDER[case.device_kind]
        model = kinds.index(case.kind) if case.kind in kinds else len(kinds)
        comparison = (case.devices, sizes, case.comparison, repr(case.context.build))
        method = methods[case.algorithm, case.method_text]
        device = (case.device_kind != "host", case.device_name)
        launch = (case.launch != "auto", case.launch)
        last = (model, case.model, *launch, case.setting != case.launch, case.setting)
        return (*first, *comparison, method, *device, *last)

    return [
        build_row(
            case,
            (sizes[id(case)], problems[id(case)]),
            ceilings.get((case.device_kind, case.device_name)),
            ratios.get(id(case)),
            refused.get(id(case), ""),
            margin,
        )
        for case in sorted(cases, key=order)
    ]
