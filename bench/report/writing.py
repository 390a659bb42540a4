# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the code of a portable row is written, as its record tells; the tiers of code in tables."""

from __future__ import annotations

from typing import Any

from .case import Case
from .fields import Broken, clean, take, whole
from .kinds import PORTABLE, PORTABLES, SPECIALISED

FLAT = "flat"  # the method without teams: no team policy, no scratch
ONE, NUMBERS, BODIES = "one", "numbers", ("one", "numbers", "several")
# What a column or a mark is called.
ONCE, SEVERAL, SPECIAL = "written once", "several bodies", "specialised"
TIERS = (FLAT, ONCE, SEVERAL, SPECIAL)


def read(row: Any, kind: str) -> dict[str, Any]:
    """The fields of a case; records that do not tell mean several bodies.

    ``shared`` is whether the device code is that of a native variant; None: not told.
    """
    if kind not in PORTABLES:
        return {}
    bodies = take(row, "bodies", str, BODIES[-1])
    if bodies not in BODIES:
        raise Broken(f"'bodies' is {bodies!r}, not one of {', '.join(BODIES)}")
    return {
        "bodies": bodies,
        "shared": take(row, "shared", bool, None),
        "numbers": {
            clean(name): whole(value, f"numbers.{name}", 1)
            for name, value in take(row, "numbers", dict, {}).items()
        },
    }


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
