# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sweeps over sizes that grow together, as training and test rows do."""

from __future__ import annotations

from ..kinds import PORTABLES
from ..rows import Row
from ..selection import measured, place, text_of
from ..sweeps import MIN_SIZES, Sweep, make_sweep


def chains(rows: list[Row]) -> list[Sweep]:
    """One for each portable method whose problems form a chain: each larger in all that varies."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in measured(rows):
        case = row.case
        if case.kind in PORTABLES and case.algorithm != "ceilings":
            how = (case.method_text, case.model)
            what = (case.algorithm, case.problem_name, *how, case.dtype)
            where = (*place(case), case.devices, case.setting)
            key = (*what, *where, text_of(case.parameters), tuple(case.sizes))
            groups.setdefault(key, []).append(row)
    by_case = {id(row.case): row for row in rows}
    found = []
    for group in groups.values():
        names = varying(group)
        if len(names) > 1 and is_chain(group, names):
            points = {row.case.sizes[names[0]]: row for row in group}
            if len(points) >= MIN_SIZES:
                ordered = dict(sorted(points.items()))
                found.append(make_sweep(names[0], ordered, by_case))
    return found


def varying(group: list[Row]) -> list[str]:
    """The sizes that differ between these rows."""
    names = group[0].case.sizes
    return [n for n in names if len({row.case.sizes[n] for row in group}) > 1]


def is_chain(group: list[Row], names: list[str]) -> bool:
    """Whether, from each row to the next, all of these sizes grow: no grid of sizes is one."""
    ordered = sorted([row.case.sizes[name] for name in names] for row in group)
    pairs = ((ordered[i - 1], ordered[i]) for i in range(1, len(ordered)))
    return all(a < b for first, second in pairs for a, b in zip(first, second))
