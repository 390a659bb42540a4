# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sizes and parameters that distinguish problems: short for tables, complete for machines."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from .case import Case
from .units import exact

Texts = dict[int, str]  # by the id of a case


def values(case: Case) -> dict[str, Any]:
    """Sizes, then parameters."""
    return {**case.sizes, **case.parameters, **case.sizes}


def pairs(found: dict[str, Any], text: Callable[[Any], str] = exact) -> str:
    """``n=50M chunk=64``."""
    return " ".join(f"{key}={text(value)}" for key, value in found.items())


def kept(case: Case, keys: Iterable[str]) -> dict[str, Any]:
    """Those of its sizes and parameters, in their order."""
    keys = set(keys)
    return {key: value for key, value in values(case).items() if key in keys}


def named(case: Case) -> set[str]:
    """The keys in the name of a case: those that are not at their default."""
    return {part.split(":")[0] for part in case.name.split("/")}


def varying(cases: Iterable[Case]) -> set[str]:
    """The keys whose values differ between these cases."""
    found = [values(case) for case in cases]
    keys = dict.fromkeys(key for one in found for key in one)
    return {key for key in keys if len({json.dumps(one.get(key)) for one in found}) > 1}


def grouped(
    cases: list[Case], key: Callable[[Case], object]
) -> dict[object, list[Case]]:
    """The cases by a key."""
    found: dict[object, list[Case]] = defaultdict(list)
    for case in cases:
        found[key(case)].append(case)
    return found


def whole_texts(cases: list[Case]) -> Texts:
    """For machines and names of files: all sizes, and the parameters that are named or differ in any case of the algorithm."""
    telling: dict[object, set[str]] = {}
    for algorithm, group in grouped(cases, lambda case: case.algorithm).items():
        telling[algorithm] = varying(group).union(*map(named, group))
    return {
        id(case): pairs(kept(case, telling[case.algorithm] | case.sizes.keys()), str)
        for case in cases
    }


def short_texts(cases: list[Case]) -> Texts:
    """For people: what is not at its default; where that is the same for two problems, also what tells them apart."""
    keys = {
        id(case): named(case) & values(case).keys() or set(case.sizes) for case in cases
    }

    def alike(case: Case) -> tuple[str, ...]:
        shown = json.dumps(kept(case, keys[id(case)]))
        return case.algorithm, case.problem_name, shown

    before = -1
    while before < (now := sum(map(len, keys.values()))):
        before = now
        for group in grouped(cases, alike).values():
            more = varying(group)
            for case in group:
                keys[id(case)] |= more
    return {id(case): pairs(kept(case, keys[id(case)])) for case in cases}
