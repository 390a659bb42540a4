# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Portable over native: the pairs of cases, their ratios and verdicts.

A portable case (kokkos, kokkos_specialised: each by itself) is compared with the native case of the same algorithm, method,
type, sizes, parameters, devices, metric, build and kind of device, under the same
setting: launch and communicator. Where no native case has that setting, the fastest
portable one alone is compared with the fastest native one, and its note says so.
Why two cases of one name are not compared is reported by ``refusals``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from . import statistics
from .case import Case
from .kinds import NATIVE, PORTABLES
from .statistics import Estimate


@dataclass(frozen=True)
class Ratio(Estimate):
    """Portable time over native time (statistics.ratio); above 1, portable is slower."""

    verdict: str = ""
    note: str = ""
    native: Case | None = None


def usable(cases: Iterable[Case]) -> list[Case]:
    """Cases of the study that passed: no null tests, no candidates of a search."""
    return [c for c in cases if c.status == "passed" and not (c.null or c.tuning)]


def method(case: Case) -> tuple[object, ...]:
    """Equal for cases of the same problem and method, on any device, at any setting."""
    values = json.dumps([case.sizes, case.parameters], sort_keys=True)
    return (case.algorithm, case.way, case.dtype, values, case.devices)


def work(case: Case) -> tuple[object, ...]:
    """Equal for cases that do the same work in the same way on the same devices."""
    return (*method(case), case.metric, *device(case), case.context.build)


def device(case: Case) -> tuple[object, ...]:
    """Kind and name of the device."""
    return (case.device_kind, case.device_name)


def shared_launches(*cases: Case) -> list[str]:
    """The program launches that all of these cases were measured in."""
    first, *others = (case.launches for case in cases)
    return [launch for launch in first if all(launch in other for other in others)]


def estimate(above: Case, below: Case, launches: Sequence[str]) -> Estimate:
    """The ratio above / below over these program launches, which both have.

    Without launches, of all samples, and then without an interval, since what differs
    between launches would not cancel. A case over itself is one, exactly.
    """
    if above is below:
        return Estimate(1.0, 1.0, 1.0)
    if not launches:
        return Estimate(
            statistics.median(above.samples) / statistics.median(below.samples)
        )
    tops = [above.launches[launch] for launch in launches]
    bottoms = [below.launches[launch] for launch in launches]
    return statistics.ratio(tops, bottoms)


def judge(found: Estimate, margin: float) -> str:
    """The verdict on a time over its reference; empty without an interval.

    An interval that does not hold its own estimate decides nothing: ``slower`` always
    stands beside a figure above 1, ``faster`` beside one below.
    """
    if found.low is None or found.high is None:
        return ""
    word = statistics.verdict(found.low, found.high, margin)
    sides = {"slower": found.value > 1, "faster": found.value < 1}
    return word if sides.get(word, True) else "unresolved"


def ratio(portable: Case, native: Case, margin: float, note: str = "") -> Ratio:
    """The ratio over the program launches that both sides share."""
    shared = shared_launches(portable, native)
    if not shared:
        note = "; ".join(filter(None, [note, "native from another program launch"]))
    found = estimate(portable, native, shared)
    figures = (found.value, found.low, found.high)
    return Ratio(*figures, judge(found, margin), note, native)


def fastest(cases: Iterable[Case]) -> Case:
    """The case of the lowest median."""
    return min(cases, key=lambda case: statistics.median(case.samples))


def compare(cases: Iterable[Case], margin: float) -> dict[int, Ratio]:
    """Ratios of the portable cases, by ``id`` of the case."""
    groups: dict[tuple[object, ...], list[Case]] = defaultdict(list)
    for case in usable(cases):
        groups[work(case)].append(case)
    ratios: dict[int, Ratio] = {}
    for group in groups.values():
        native = [c for c in group if c.kind == NATIVE]
        for kind in PORTABLES:
            portable = [case for case in group if case.kind == kind]
            if portable and native:
                ratios.update(compare_group(portable, native, margin))
    return ratios


def compare_group(
    portable: list[Case], native: list[Case], margin: float
) -> dict[int, Ratio]:
    """Pairs with equal settings; the best with the best where they differ in setting."""
    settings = {case.setting: case for case in native}
    best, reference = fastest(portable), fastest(native)
    ratios = {}
    for case in portable:
        same = settings.get(case.setting)
        if same is not None:
            note = ""
            if case is best and same is not reference:
                value = ratio(best, reference, margin).value
                note = (
                    f"best with best {value:.3g}: {reference.model} {reference.setting}"
                )
            ratios[id(case)] = ratio(case, same, margin, note)
        elif case is best:
            note = f"best with best: {reference.model} {reference.setting}"
            ratios[id(case)] = ratio(case, reference, margin, note)
    return ratios


def refusals(cases: Iterable[Case], ratios: dict[int, Ratio]) -> dict[int, str]:
    """Why portable cases have no ratio although a native one computes the same.

    By ``id`` of the case: the metric differs, the build differs, or the native failed.
    """
    cases = list(cases)
    natives: dict[tuple[object, ...], list[Case]] = defaultdict(list)
    for case in cases:
        own = case.kind == NATIVE and not (case.null or case.tuning)
        if own and case.status != "skipped":
            natives[(*method(case), case.device_kind)].append(case)
    found = {}
    for case in usable(cases):
        if case.kind in PORTABLES and id(case) not in ratios:
            references = natives[(*method(case), case.device_kind)]
            reasons = (refusal(case, reference) for reference in references)
            found[id(case)] = "; ".join(dict.fromkeys(filter(None, reasons)))
    return {key: text for key, text in found.items() if text}


def refusal(case: Case, reference: Case) -> str:
    """Why this native case is not compared; empty where only the setting differs."""
    if reference.device_name and device(case) != device(reference):
        return ""  # another machine: no ratio is expected
    if reference.status == "failed":
        return f"no ratio: {reference.model} failed"
    if case.context.build != reference.context.build:
        return f"no ratio: {reference.model} is of another build"
    if case.metric != reference.metric:
        words = [metric.replace("_", " ") for metric in (reference.metric, case.metric)]
        return f"no ratio: {reference.model} has {words[0]}, {case.model} {words[1]}"
    return ""
