# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The factors of one gap, and what stands beside them, from the rows between which they lie."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import exp, log

from .kinds import NATIVE
from .options import MARGIN
from .ratios import estimate, shared_launches
from .rows import Row
from .selection import automatic, fastest
from .statistics import Estimate
from .writing import FLAT, SEVERAL, tier

FACTORS = ("tuning", "language", "method", "reach", "library")
JOINT = "language x method"  # one factor where there is no native of the method
WHOLE = "whole gap"
FLAT_COST, FLAT_SEARCHED = "flat cost, default", "flat cost, searched"
LAYER, RECOVERED = "launch layer", "recovered"
BESIDE = (FLAT_COST, FLAT_SEARCHED, LAYER, RECOVERED)
ONE_LAUNCH, NO_DEFAULT = "one launch measured", "no default launch measured"

STEPS = {
    "tuning": ("searched", "once"),
    "language": ("once", "native"),
    "method": ("native", "reached"),
    JOINT: ("once", "reached"),
    "reach": ("reached", "fastest"),
    "library": ("fastest", "best"),
    WHOLE: ("default", "best"),
}


def quickest(rows: Iterable[Row]) -> Row | None:
    """The fastest; None of none."""
    some = list(rows)
    return fastest(some) if some else None


def ratio(above: Row | None, below: Row | None) -> Estimate | None:
    """The times of two rows, over all launches that these two share."""
    if above is None or below is None:
        return None
    launches = shared_launches(above.case, below.case)
    return estimate(above.case, below.case, launches)


def geometric_mean(values: list[float]) -> float:
    """exp(mean(log x)): the mean of ratios whose order of sides does not matter.

    Fleming and Wallace 1986, doi:10.1145/5666.5673. @pre at least one, all above zero
    """
    return exp(sum(map(log, values)) / len(values))


def same_method(row: Row | None, rows: list[Row]) -> Row | None:
    """The fastest native of its method for this kind of device; one thread is no counterpart."""
    if row is None:
        return None
    way = row.case.way
    return quickest(r for r in rows if r.case.kind == NATIVE and r.case.way == way)


def by_default(rows: list[Row]) -> list[Row]:
    """Those of the method that is fastest at its default launch; of none at all, that is fastest."""
    leader = quickest(filter(automatic, rows)) or quickest(rows)
    return [r for r in rows if leader and r.case.method_text == leader.case.method_text]


def why_none(kokkos: list[Row]) -> str:
    """Why no row of model kokkos is written once, beside flat code."""
    tiers = {tier(row.case) for row in kokkos}
    if SEVERAL in tiers:
        return "no written-once kernel: kokkos has several bodies"
    if tiers:
        return f"no written-once kernel beside {FLAT}"
    return "no kokkos kernel of this precision class"


def chain(
    rows: Mapping[str, Row | None], none: str
) -> tuple[dict[str, Estimate], dict[str, str]]:
    """The whole gap and its factors, and why others are missing; ``none``: why there is no once(m)."""
    once = rows["once"]
    none = "" if once else none
    method = once.case.method_text if once else ""
    why = {
        "searched": none or (ONE_LAUNCH if rows["default"] else NO_DEFAULT),
        "default": none or NO_DEFAULT,
        "once": none,
        "native": none or f"no comparable native {method}",
        "reached": "no comparable native that Kokkos' API reaches",
        "fastest": "no comparable native",
    }
    launches = shared_launches(*(row.case for row in rows.values() if row))
    factors: dict[str, Estimate] = {}
    blank: dict[str, str] = {}
    for name, sides in STEPS.items():
        above, below = (rows[side] for side in sides)
        if name == JOINT and (rows["native"] or not once):
            continue
        if above and below:
            factors[name] = estimate(above.case, below.case, launches)
        else:
            missing = [why[side] for side in sides if rows[side] is None]
            blank[name] = missing[0]
    return factors, blank


def stand_beside(
    rows: Mapping[str, Row | None],
    none: str,
    flat: list[Row],
    special: list[Row],
    natives: list[Row],
) -> tuple[dict[str, float], dict[str, str]]:
    """What stands beside the factors, and why it is missing."""
    once = rows["once"]
    none = "" if once else none
    found: dict[str, float] = {}
    blank: dict[str, str] = {}

    def put(name: str, value: float | None, why: str) -> None:
        if value is None or why:
            blank[name] = why
        else:
            found[name] = value

    default = quickest(filter(automatic, flat))
    cost = ratio(default, rows["default"])
    missing = none or (f"no {FLAT} kernel" if not flat else "")
    put(
        FLAT_COST, cost.value if cost else None, missing or ("" if cost else NO_DEFAULT)
    )
    several = len(flat) > 1 and rows["searched"] is not None
    cost = ratio(quickest(flat), once)
    why = missing or ("" if several else ONE_LAUNCH)
    put(FLAT_SEARCHED, cost.value if cost else None, why)
    put(LAYER, *layer(special, natives))
    put(RECOVERED, *recovered(once, quickest(special), rows["best"], none))
    return found, blank


def layer(special: list[Row], natives: list[Row]) -> tuple[float | None, str]:
    """Specialised / native of its method, where the record says that both share their device code; else why not."""
    if not special:
        return None, "no kokkos_specialised kernel"
    shared = quickest(row for row in special if row.case.shared)
    if shared is None:
        told = any(row.case.shared is not None for row in special)
        text = "kokkos_specialised has device code of its own"
        return (
            None,
            text if told else "the record does not tell whose device code it is",
        )
    found = ratio(shared, same_method(shared, natives))
    return (
        (found.value, "") if found else (None, f"no native {shared.case.method_text}")
    )


def recovered(
    once: Row | None, special: Row | None, best: Row | None, none: str
) -> tuple[float | None, str]:
    """The share of the gap of once(m) that specialised code does not have; else why there is none."""
    gained, whole = ratio(once, special), ratio(once, best)
    if none or gained is None or whole is None:
        return None, none or "no kokkos_specialised kernel"
    if gained.value < 1:
        return None, "kokkos_specialised is slower"
    if whole.value <= 1 + MARGIN:
        return None, f"within {100 * MARGIN:.0f} % of the best"
    return log(gained.value) / log(whole.value), ""
