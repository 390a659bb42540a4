# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Natives that are slower than Kokkos' code of the same method: defects of the native."""

from __future__ import annotations

from collections.abc import Iterable
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
class Defect:
    """A native, its portable twin, and how many times slower the native is."""

    launch: str  # default or best, of both
    native: Row
    portable: Row
    ratio: Estimate


def defects(rows: Iterable[Row]) -> list[Defect]:
    """Method by method; the largest first."""
    some = [row for row in rows if row.case.algorithm not in NO_ALGORITHMS]
    found = [
        defect("default", list(filter(automatic, group))) or defect("best", group)
        for group in methods(some)
    ]
    return sorted(filter(None, found), key=lambda one: -one.ratio.value)


def defect(launch: str, rows: list[Row]) -> Defect | None:
    """That of one method at these launches; None where there is none."""
    portable = quickest(row for row in rows if row.case.kind in PORTABLES)
    native = same_method(portable, rows)
    factor = ratio(native, portable)
    if not (portable and native and factor) or factor.value <= BEYOND:
        return None
    return Defect(launch, native, portable, factor)


def cells(found: Iterable[Defect]) -> list[tuple[str, ...]]:
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
