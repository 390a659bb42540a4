# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gap of written-once code to the best there is, per problem and precision class, in its factors.

m is the method of model kokkos that is fastest at its default launch; once(m) is that kernel.

    tuning   = once(m), default launch / best launch
    language = once(m) / native(m), both at their best launch
    method   = native(m) / the fastest native that uses only what Kokkos' API reaches
    reach    = that / the fastest native
    library  = the fastest native / the best of all

Their product is the whole gap, once(m) at its default launch / the best of all: above 1,
once(m) is slower. All methods take part, so that no factor hides in a missing row.
Without native(m), language x method is one factor. What cannot be computed is blank and
has a reason. Beside the factors, never among them:

    flat cost    = Kokkos without teams / once(m), both at their best launch
    launch layer = kokkos_specialised / native of its method, where the body is the native's own.
                   Records do not tell whose body it is: that of a method beyond Kokkos' API is
    recovered    = ln(once(m) / kokkos_specialised) / ln(once(m) / the best of all), best launches

All times of a gap are medians over the program launches that its rows share, so that the
product holds; without a shared launch, over all samples and without an interval. The best
of several is chosen by the samples that are then compared: a factor of equally fast
launches or methods is above 1 by their noise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log

from .methods import beyond_api, precision
from .models import BY_HAND, FLAT, NATIVE, PORTABLE, PORTABLES, REFERENCE, SPECIALISED
from .ratios import estimate, shared_launches
from .rows import Row
from .selection import (
    automatic,
    devices_text,
    engine,
    fastest,
    measured,
    place,
    problem,
    problem_text,
)
from .statistics import MARGIN, Estimate

FACTORS = ("tuning", "language", "method", "reach", "library")
JOINT = "language x method"  # one factor where there is no native of the method
WHOLE = "whole gap"
FLAT_COST, LAYER, RECOVERED = "flat cost", "launch layer", "recovered"
NO_KERNEL = f"no {PORTABLE} kernel of this precision class"
BESIDE = (FLAT_COST, LAYER, RECOVERED)


@dataclass(frozen=True)
class Gap:
    """The gap of one problem and precision class on one device. Rows are None where nothing was measured."""

    problem: str  # without its algorithm: ``newton f32 rows=1M``
    sizes: str  # the same without its name and type
    precision: str
    device: str  # its name; of several also their number and unusual engine
    flat: Row | None  # Kokkos without teams
    default: Row | None  # once(m), launch chosen by the method
    once: Row | None  # once(m), best launch
    special: Row | None  # kokkos_specialised, fastest method
    twin: Row | None  # native of its method
    native: Row | None  # of method m
    reached: Row | None  # the fastest native within the reach of Kokkos' API
    fastest_native: Row | None
    best: Row  # of all
    library: Row | None  # the best library or peer
    ratio: (
        Estimate | None
    )  # once(m) / native(m), over all launches that these two share
    special_ratio: (
        Estimate | None
    )  # kokkos_specialised / native of its method, likewise
    factors: dict[str, Estimate]  # by name, and the whole gap
    beside: dict[str, float]  # by name: what is no factor of it
    blank: dict[str, str]  # what of both is missing, and why

    @property
    def row(self) -> Row:
        """The row that it is the gap of; without written-once code, kokkos_specialised."""
        found = self.once or self.special or self.flat
        assert found is not None
        return found

    @property
    def algorithm(self) -> str:
        """Of the problem."""
        return self.row.case.algorithm

    @property
    def title(self) -> str:
        """Algorithm and problem."""
        return f"{self.algorithm} {self.problem}"

    @property
    def whole(self) -> Estimate | None:
        """Once(m) at its default launch / the best of all."""
        return self.factors.get(WHOLE)

    @property
    def parts(self) -> dict[str, Estimate]:
        """The factors whose product is the whole gap, as far as they are known."""
        return {key: one for key, one in self.factors.items() if key != WHOLE}


def gaps(rows: list[Row]) -> list[Gap]:
    """One for each problem, precision class and device where Kokkos' code has something to be held against."""
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in measured(rows):
        if row.case.algorithm != "ceilings":
            groups[field(row)].append(row)
    return [make_gap(group) for group in groups.values() if comparable(group)]


def field(row: Row) -> tuple[object, ...]:
    """Equal for the rows that compete on one problem."""
    return problem(row.case), precision(row.case), place(row.case)


def comparable(group: list[Row]) -> bool:
    """Whether there is Kokkos' code, and another variant or launch beside it."""
    methods = {row.case.method_text for row in group if row.case.model in PORTABLES}
    return bool(methods) and len(group) > len(methods)


def quickest(rows: Iterable[Row]) -> Row | None:
    """The fastest; None of none."""
    some = list(rows)
    return fastest(some) if some else None


def make_gap(group: list[Row]) -> Gap:
    """The gap of the rows of one problem and precision class on one device."""
    kokkos = [row for row in group if row.case.model == PORTABLE]
    flat = quickest(row for row in kokkos if row.case.method == FLAT)
    team = [row for row in kokkos if row.case.method != FLAT]
    leader = quickest(filter(automatic, team)) or quickest(team)
    of_method = [
        r for r in team if leader and r.case.method_text == leader.case.method_text
    ]
    special = quickest(row for row in group if row.case.model == SPECIALISED)
    by_hand = (*NATIVE[group[0].case.device_kind], REFERENCE)
    natives = [row for row in group if row.case.model in by_hand]
    default, once = quickest(filter(automatic, of_method)), quickest(of_method)
    rows = {
        "default": default,
        "searched": default if len(of_method) > 1 else None,
        "once": once,
        "native": same_method(once, natives),
        "reached": quickest(row for row in natives if reached(row, kokkos)),
        "fastest": quickest(natives),
        "best": fastest(group),
    }
    twin = same_method(special, natives)
    factors, blank = chain(rows)
    beside, more = stand_beside(rows, flat, special, twin)
    row = once or special or group[0]
    kind = precision(row.case)
    rounded = f", products in {kind}" if kind != row.case.dtype else ""
    return Gap(
        problem=problem_text(row) + rounded,
        sizes=row.problem + rounded,
        precision=kind,
        device=", ".join(filter(None, [devices_text(row.case), engine(row.case)])),
        flat=flat,
        default=default,
        once=once,
        special=special,
        twin=twin,
        native=rows["native"],
        reached=rows["reached"],
        fastest_native=rows["fastest"],
        best=fastest(group),
        library=quickest(row for row in group if row.case.model not in BY_HAND),
        ratio=ratio(once, rows["native"]),
        special_ratio=ratio(special, twin),
        factors=factors,
        beside=beside,
        blank=blank | more,
    )


def reached(native: Row, kokkos: list[Row]) -> bool:
    """Whether Kokkos' API can say what this native does: no matrix units, no clusters, or a kernel shows it."""
    shown = {row.case.way for row in kokkos}
    return native.case.way in shown or not beyond_api(native.case)


def same_method(row: Row | None, rows: list[Row]) -> Row | None:
    """The fastest native of its method for this kind of device; one thread is no counterpart."""
    if row is None:
        return None
    models, way = NATIVE[row.case.device_kind], row.case.way
    return quickest(r for r in rows if r.case.model in models and r.case.way == way)


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


STEPS = {
    "tuning": ("searched", "once"),
    "language": ("once", "native"),
    "method": ("native", "reached"),
    JOINT: ("once", "reached"),
    "reach": ("reached", "fastest"),
    "library": ("fastest", "best"),
    WHOLE: ("default", "best"),
}


def chain(
    rows: Mapping[str, Row | None],
) -> tuple[dict[str, Estimate], dict[str, str]]:
    """The whole gap and its factors, and why others are missing; each row over a later one of these."""
    once = rows["once"]
    none = "" if once else NO_KERNEL
    method = once.case.method_text if once else ""
    why = {
        "searched": none or ("one launch measured" if rows["default"] else ""),
        "default": none or "no default launch measured",
        "once": none,
        "native": none or f"no comparable native {method}",
        "reached": "no comparable native that Kokkos' API reaches",
        "fastest": "no comparable native",
    }
    why["searched"] = why["searched"] or why["default"]
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
    flat: Row | None,
    special: Row | None,
    twin: Row | None,
) -> tuple[dict[str, float], dict[str, str]]:
    """What stands beside the factors, and why it is missing."""
    once, best = rows["once"], rows["best"]
    cost, gained, whole = ratio(flat, once), ratio(once, special), ratio(once, best)
    layer = ratio(special, twin)
    found: dict[str, float] = {}
    blank: dict[str, str] = {}
    if cost:
        found[FLAT_COST] = cost.value
    else:
        blank[FLAT_COST] = f"no {FLAT} kernel" if once else NO_KERNEL
    if special is None:
        blank[LAYER] = f"no {SPECIALISED} kernel"
    elif not beyond_api(special.case):
        blank[LAYER] = "the records do not tell whose body it is"
    elif layer:
        found[LAYER] = layer.value
    else:
        blank[LAYER] = f"no native {special.case.method_text}"
    if not (gained and whole):
        blank[RECOVERED] = f"no {SPECIALISED} kernel" if once else NO_KERNEL
    elif gained.value < 1:
        blank[RECOVERED] = f"{SPECIALISED} is slower"
    elif whole.value <= 1 + MARGIN:
        blank[RECOVERED] = f"within {100 * MARGIN:.0f} % of the best"
    else:
        found[RECOVERED] = log(gained.value) / log(whole.value)
    return found, blank
