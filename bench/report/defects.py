# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Natives that are slower than Kokkos' code of the same method: defects of the native."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import units
from .gap_texts import factor_text
from .gaps import quickest, ratio, same_method
from .models import PORTABLES
from .published_pages import methods
from .rows import Row
from .selection import NO_ALGORITHMS, devices_text, time, work_title
from .statistics import Estimate

BEYOND = 1.03  # more than 3 % slower
TEXT = (
    f"Natives that take more than {100 * (BEYOND - 1):.0f} % longer than Kokkos' code of the same method, both at their best launch. "
    "Each is a defect of the native: a ratio of the tables above that such a native enters understates the price of Kokkos."
)
RATIO = "native / portable twin"
COLUMNS = ("device", "problem", "method", "native", "portable twin", RATIO)


@dataclass(frozen=True)
class Defect:
    """A native, its portable twin, and how many times slower the native is."""

    native: Row
    portable: Row
    ratio: Estimate


def defects(rows: Iterable[Row]) -> list[Defect]:
    """Method by method; the largest first."""
    found = []
    for group in methods([r for r in rows if r.case.algorithm not in NO_ALGORITHMS]):
        portable = quickest(row for row in group if row.case.model in PORTABLES)
        native = same_method(portable, group)
        factor = ratio(native, portable)
        if portable and native and factor and factor.value > BEYOND:
            found.append(Defect(native, portable, factor))
    return sorted(found, key=lambda one: -one.ratio.value)


def cells(found: Iterable[Defect]) -> list[tuple[str, ...]]:
    """A row of texts by COLUMNS for each."""
    return [
        (
            devices_text(one.native.case),
            work_title(one.native),
            one.native.case.method_text,
            *(
                f"{row.case.model} {units.seconds(time(row))}"
                for row in (one.native, one.portable)
            ),
            factor_text(one.ratio),
        )
        for one in found
    ]
