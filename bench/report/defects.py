# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Natives that are slower than Kokkos' code of the same method: defects of the native."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from . import units
from .factors import quickest, ratio, same_method
from .gap_texts import factor_text
from .kinds import PORTABLES
from .published_pages import methods
from .rows import Row
from .selection import NO_ALGORITHMS, automatic, devices_text, time, work_title
from .statistics import Estimate

BEYOND = 1.03  # more than 3 % slower
TEXT = (
    f"Natives that take more than {100 * (BEYOND - 1):.0f} % longer than Kokkos' code of the same method, both at their default launch, "
    "else both at their best. "
    "Each is a defect of the native. It makes the factor language too small where it enters, and the next one too large; the whole gap stays."
)
RATIO = "native / portable twin"
COLUMNS = (
    *("device", "problem", "method", "launch"),
    *("native", "portable twin", RATIO),
)


@dataclass(frozen=True)
class Twins:
    """A portable row and the native of its method, and how many times as long the slower one takes."""

    launch: str  # default or best, of both
    native: Row
    portable: Row
    ratio: Estimate


def defects(rows: Iterable[Row]) -> list[Twins]:
    """Natives that are slower, method by method; the largest ratio first."""
    return apart(rows, lambda row: row.case.kind in PORTABLES, native_is_slower=True)


def apart(
    rows: Iterable[Row], portable: Callable[[Row], bool], native_is_slower: bool
) -> list[Twins]:
    """Twins of which one is slower by more than BEYOND; the largest ratio first."""
    some = [row for row in rows if row.case.algorithm not in NO_ALGORITHMS]
    found = []
    for group in methods(some):
        for launch, kept in (("default", filter(automatic, group)), ("best", group)):
            if pair := twins(launch, list(kept), portable, native_is_slower):
                found.append(pair)
                break
    return sorted(found, key=lambda one: -one.ratio.value)


def twins(
    launch: str,
    rows: list[Row],
    is_portable: Callable[[Row], bool],
    native_is_slower: bool,
) -> Twins | None:
    """Those of one method at these launches; None where they are not that far apart."""
    portable = quickest(filter(is_portable, rows))
    native = same_method(portable, rows)
    sides = (native, portable) if native_is_slower else (portable, native)
    factor = ratio(*sides)
    if not (portable and native and factor) or factor.value <= BEYOND:
        return None
    return Twins(launch, native, portable, factor)


def cells(found: Iterable[Twins]) -> list[tuple[str, ...]]:
    """A row of texts by COLUMNS for each."""
    return [
        (
            devices_text(one.native.case),
            work_title(one.native),
            one.native.case.method_text,
            one.launch,
            *(
                f"{row.case.model} {units.seconds(time(row))}"
                for row in (one.native, one.portable)
            ),
            factor_text(one.ratio),
        )
        for one in found
    ]
