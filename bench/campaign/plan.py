# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparisons become slices: whole comparisons and the ceilings of their study, in one launch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from .campaign import Campaign, Planned, Slice
from .errors import BadInput

START_S = 10.0  # of the program, once for each study of a slice

Comparisons = dict[str, dict[str, Planned]]


def overhead_s(comparisons: dict[str, Planned]) -> float:
    """What a slice takes beside its own comparisons of a study [s]: start and ceilings."""
    return START_S + sum(one.seconds for one in comparisons.values() if one.ceilings)


def own(comparisons: dict[str, Planned], launch: int) -> Iterator[str]:
    """The comparisons of a launch that are measured once in it: all but ceilings, where there are others."""
    rest = [name for name, one in comparisons.items() if not one.ceilings]
    for name in rest or list(comparisons)[:1]:
        if comparisons[name].launches >= launch:
            yield name


def slices(comparisons: Comparisons, launches: int, limit_s: float) -> list[Slice]:
    """The slices of all launches, each at most ``limit_s`` long unless one comparison is longer."""
    found: list[Slice] = []
    for launch in range(1, launches + 1):
        begun: dict[str, list[str]] = {}
        seconds = 0.0
        for study, of_study in comparisons.items():
            for name in own(of_study, launch):
                more = 0.0 if of_study[name].ceilings else of_study[name].seconds
                start = 0.0 if study in begun else overhead_s(of_study)
                if begun and seconds + start + more > limit_s:
                    found.append(Slice(launch, seconds, begun))
                    begun, seconds, start = {}, 0.0, overhead_s(of_study)
                if study not in begun:
                    begun[study] = [n for n, one in of_study.items() if one.ceilings]
                if name not in begun[study]:
                    begun[study].append(name)
                seconds += start + more
        if begun:
            found.append(Slice(launch, seconds, begun))
    return found


def cut(
    comparisons: Comparisons, launches: int, limit_s: float, total_s: float
) -> list[Slice]:
    """Slices of at most ``total_s`` in all: the comparisons that take longest lose launches, none is left out.

    Changes ``comparisons``; raises BadInput where one launch of each takes longer.
    """
    while True:
        found = slices(comparisons, launches, limit_s)
        took = sum(one.seconds for one in found)
        if took <= total_s:
            return found
        costs = [
            (one.seconds * one.launches, study, name)
            for study, of_study in comparisons.items()
            for name, one in of_study.items()
            if one.launches > 1 and not one.ceilings
        ]
        if not costs:
            text = f"one launch of every comparison takes {took / 60:.1f} min, --total allows {total_s / 60:g}"
            raise BadInput(f"{text}: raise it, lower `samples`, or name fewer studies")
        _, study, name = max(costs)
        one = comparisons[study][name]
        comparisons[study][name] = replace(one, launches=one.launches - 1)


def table(plan: Campaign) -> str:
    """What is measured, slice by slice, with GPU minutes; then what to know of it."""
    lines = ["slice  launch  comparisons  GPU minutes  studies"]
    for number, one in enumerate(plan.slices, 1):
        count = sum(map(len, one.comparisons.values()))
        over = " (over the limit)" * (one.seconds > 60 * plan.minutes)
        names = ", ".join(one.comparisons)
        text = f"{number:5}  {one.launch:6}  {count:11}  {one.seconds / 60:11.1f}  {names}{over}"
        lines.append(text)
    every = [one for of in plan.comparisons.values() for one in of.values()]
    known, total = (
        sum(one.recorded for one in every),
        sum(s.seconds for s in plan.slices),
    )
    lines.append(
        f"{len(plan.slices)} slices, {total / 60:.1f} GPU minutes; of {len(every)} comparisons the times of {known} are measured"
    )
    for study, of_study in plan.comparisons.items():
        for name, comparison in of_study.items():
            if comparison.launches < plan.launches:
                lines.append(
                    f"{study}: {comparison.launches} of {plan.launches} launches: {name}"
                )
    return "\n".join(lines) + "\n"
