# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the code of a portable row is written, as its record tells; the tiers of code in tables."""

from __future__ import annotations

from typing import Any

from .case import Case
from .kinds import PORTABLE, PORTABLES, SPECIALISED
from .schema import Row

FLAT = "flat"  # the method without teams: no team policy, no scratch
ONE, NUMBERS = "one", "numbers"
# What a column or a mark is called.
ONCE, SEVERAL, SPECIAL = "written once", "several bodies", "specialised"
TIERS = (FLAT, ONCE, SEVERAL, SPECIAL)


def read(row: Row) -> dict[str, Any]:
    """The fields of a case; records that do not tell mean several bodies.

    ``shared`` is whether the device code is that of a native variant; None: not told.
    """
    if row.kind not in PORTABLES:
        return {}
    return {"bodies": row.bodies, "shared": row.shared, "numbers": row.numbers}


def written_once(case: Case) -> bool:
    """One body for every kind of device, in Kokkos' API alone; numbers may differ."""
    return case.kind == PORTABLE and case.bodies in (ONE, NUMBERS)


def tier(case: Case) -> str:
    """What a row of Kokkos' code is shown as; empty for other models."""
    if case.kind == SPECIALISED:
        return SPECIAL
    if case.kind != PORTABLE:
        return ""
    if case.method == FLAT:
        return FLAT
    return ONCE if written_once(case) else SEVERAL
