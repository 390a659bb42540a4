# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gap of written-once code to the best there is, per problem and precision class, in its factors.

Written once is a row of model kokkos whose record says one body, with or without numbers.
m is the written-once method, beside flat, that is fastest at its default launch; once(m)
is that kernel.

    tuning   = once(m), default launch / best launch
    language = once(m) / native(m), both at their best launch
    method   = native(m) / the fastest native that uses only what Kokkos' API reaches
    reach    = that / the fastest native
    library  = the fastest native / the best of all

Their product is the whole gap, once(m) at its default launch / the best of all: above 1,
once(m) is slower. All methods take part, so that no factor hides in a missing row.
Without native(m), language x method is one factor. What cannot be computed is blank and
has a reason. Beside the factors, never among them:

    flat cost    = Kokkos without teams / once(m), both at their default, and both searched
    launch layer = kokkos_specialised / native of its method, where the record says that
                   both have the same device code
    recovered    = ln(once(m) / kokkos_specialised) / ln(once(m) / the best of all), best launches

A kernel of model kokkos with several bodies is no side of a factor; it may be the best of all.

All times of a gap are medians over the program launches that its rows share, so that the
product holds; without a shared launch, over all samples and without an interval. The best
of several is chosen by the samples that are then compared: a factor of equally fast
launches or methods is above 1 by their noise.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from .factors import (
    WHOLE,
    by_default,
    chain,
    quickest,
    ratio,
    same_method,
    stand_beside,
    why_none,
)
from .kinds import BY_HAND, NATIVE, PORTABLE, PORTABLES, REFERENCE
from .methods import beyond_api, precision
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
from .statistics import Estimate
from .writing import FLAT, ONCE, SEVERAL, SPECIAL, tier


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
    several: Row | None  # kokkos with several bodies, chosen as once(m)
    special: Row | None  # kokkos_specialised, fastest method
    twin: Row | None  # native of its method
    native: (
        Row | None
    )  # of method m; without written-once code, of the method of `several`
    fastest_native: Row | None
    best: Row  # of all
    library: Row | None  # the best library or peer
    ratio: (
        Estimate | None
    )  # once(m), else `several`, over `native`, over all launches that these two share
    special_ratio: (
        Estimate | None
    )  # kokkos_specialised / native of its method, likewise
    factors: dict[str, Estimate]  # by name, and the whole gap
    beside: dict[str, float]  # by name: what is no factor of it
    blank: dict[str, str]  # what of both is missing, and why

    @property
    def tiers(self) -> dict[str, Row | None]:
        """Kokkos' code by what it is shown as."""
        rows = (self.flat, self.once, self.several, self.special)
        return dict(zip((FLAT, ONCE, SEVERAL, SPECIAL), rows))

    @property
    def row(self) -> Row:
        """The row that it is the gap of; without written-once code, the first other of Kokkos' code."""
        found = self.once or self.several or self.special or self.flat
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
    methods = {row.case.method_text for row in group if row.case.kind in PORTABLES}
    return bool(methods) and len(group) > len(methods)


def make_gap(group: list[Row]) -> Gap:
    """The gap of the rows of one problem and precision class on one device."""
    kokkos = [row for row in group if row.case.kind == PORTABLE]
    of_tier: dict[str, list[Row]] = defaultdict(list)
    for row in group:
        of_tier[tier(row.case)].append(row)
    of_method, flat = by_default(of_tier[ONCE]), of_tier[FLAT]
    several = quickest(by_default(of_tier[SEVERAL]))
    special = quickest(of_tier[SPECIAL])
    natives = [row for row in group if row.case.kind in (NATIVE, REFERENCE)]
    default, once = quickest(filter(automatic, of_method)), quickest(of_method)
    native = same_method(once or several, natives)
    rows = {
        "default": default,
        "searched": default if len(of_method) > 1 else None,
        "once": once,
        "native": native if once else None,
        "reached": quickest(row for row in natives if reached(row, kokkos)),
        "fastest": quickest(natives),
        "best": fastest(group),
    }
    twin = same_method(special, natives)
    none = why_none(kokkos)
    factors, blank = chain(rows, none)
    beside, more = stand_beside(rows, none, flat, of_tier[SPECIAL], natives)
    row = once or several or special or group[0]
    kind = precision(row.case)
    rounded = f", products in {kind}" if kind != row.case.dtype else ""
    return Gap(
        problem=problem_text(row) + rounded,
        sizes=row.problem + rounded,
        precision=kind,
        device=", ".join(filter(None, [devices_text(row.case), engine(row.case)])),
        flat=quickest(flat),
        default=default,
        once=once,
        several=several,
        special=special,
        twin=twin,
        native=native,
        fastest_native=rows["fastest"],
        best=fastest(group),
        library=quickest(row for row in group if row.case.kind not in BY_HAND),
        ratio=ratio(once or several, native),
        special_ratio=ratio(special, twin),
        factors=factors,
        beside=beside,
        blank=blank | more,
    )


def reached(native: Row, kokkos: list[Row]) -> bool:
    """Whether Kokkos' API can say what this native does: no matrix units, no clusters, or a kernel shows it."""
    shown = {row.case.way for row in kokkos}
    return native.case.way in shown or not beyond_api(native.case)
