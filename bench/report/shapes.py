# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes that a study drew: how far the best own variant of each is from its bound.

The bound of a shape is max(roofline, latency): the roofline bound of the problem (bounds.py), and the
least latency that the steps of its variants have, from the records of ``overheads`` (0 without them).
Data in the cache, whose bandwidth was not measured at that size, have no bytes in their bound. A shape
that no own variant solved, and one whose bound is not known, counts as a miss.

Portable code is held against native code of the same method: kokkos_specialised where the method
has such a variant, else kokkos. A pair is a method on a shape; it is a miss where portable
code did not pass and native did, and where either FAILED. A shape that native code does not
take makes no pair.

All of that is of automatic launches. Where a study has tuned ones too, a variant's regret is
t_automatic / t_tuned - 1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from .bounds import problem_bound, problem_latency
from .kinds import BY_HAND, LIBRARY, NATIVE, PORTABLE, PORTABLE_LIBRARY, SPECIALISED
from .peaks import Ceilings, measured_ceilings
from .rows import Row
from .selection import (
    devices_text,
    fastest,
    measured,
    of_study,
    time,
    work_title,
)
from .units import per_cent

NEAR, FAR, SLOWER = 2.0, 6.0, 1.1
LEVEL = 1 / 0.9  # times as long as native: nine tenths of its speed
MEAN_REGRET, LARGEST_REGRET = 0.05, 0.20


@dataclass(frozen=True)
class Pair:
    """A method on a shape, portable beside native."""

    method: str
    portable: Row
    native: Row

    @property
    def ratio(self) -> float:
        """t_portable / t_native; infinite where one of them has no time."""
        if self.portable.median is None or self.native.median is None:
            return math.inf
        return self.portable.median / self.native.median

    @property
    def text(self) -> str:
        """``1.18``; ``FAILED`` or ``skipped`` where there is no ratio."""
        states = {self.portable.verdict, self.native.verdict} & {"FAILED", "skipped"}
        return " ".join(sorted(states)) or f"{self.ratio:.2f}"


@dataclass(frozen=True)
class Regret:
    """A variant on a shape, with the launch that it chooses and with the best that a search found."""

    automatic: Row
    tuned: Row

    @property
    def value(self) -> float:
        """t_automatic / t_tuned - 1."""
        return time(self.automatic) / time(self.tuned) - 1


@dataclass(frozen=True)
class Shape:
    """A problem that was drawn, on one kind of device."""

    title: str
    algorithm: str
    device: str
    bound: float | None  # [s]
    best: Row | None  # the fastest own variant
    library: Row | None  # the fastest
    pairs: tuple[Pair, ...]
    regrets: tuple[Regret, ...]  # of own variants
    rows: tuple[Row, ...]
    reason: str = ""  # why there is no ratio

    @property
    def ratio(self) -> float:
        """Time of the best own variant over the bound; infinite where one is missing."""
        return time(self.best) / self.bound if self.best and self.bound else math.inf

    @property
    def to_library(self) -> float:
        """Time of the best own variant over that of the best library. @pre a library"""
        assert self.library is not None
        return time(self.best) / time(self.library) if self.best else math.inf


@dataclass(frozen=True)
class Share:
    """How many of something reach a goal."""

    text: str
    hits: int
    of: int
    goal: float

    def __str__(self) -> str:
        """``within 2 x of the bound: 180 of 200 (90 %), goal 90 %``."""
        share = f"{self.hits} of {self.of} ({100 * self.hits / self.of:.1f} %)"
        return f"{self.text}: {share}, goal {per_cent(self.goal)}"


@dataclass(frozen=True)
class Regrets:
    """How much slower automatic launches are than tuned ones."""

    values: tuple[float, ...]

    def __str__(self) -> str:
        """``automatic against tuned launches: mean regret 3 %, largest 18 %, ...``."""
        mean, largest = sum(self.values) / len(self.values), max(self.values)
        above = sum(value > LARGEST_REGRET for value in self.values)
        return (
            f"automatic against tuned launches: mean regret {per_cent(mean)}, largest {per_cent(largest)}, "
            f"{above} of {len(self.values)} above {per_cent(LARGEST_REGRET)}, "
            f"goals {per_cent(MEAN_REGRET)} and none"
        )


@dataclass(frozen=True)
class ShapeStudy:
    """All shapes of one device, the farthest from its bound first."""

    device: str
    shapes: list[Shape]

    @property
    def pairs(self) -> list[tuple[Shape, Pair]]:
        """Of all shapes."""
        return [(shape, pair) for shape in self.shapes for pair in shape.pairs]

    @property
    def regrets(self) -> list[tuple[Shape, Regret]]:
        """Of all shapes."""
        return [(shape, one) for shape in self.shapes for one in shape.regrets]

    @property
    def goals(self) -> list[Share | Regrets]:
        """The shares, and the regrets where launches were tuned."""
        values = tuple(one.value for _, one in self.regrets)
        return [*self.shares, *([Regrets(values)] if values else [])]

    @property
    def with_library(self) -> list[Shape]:
        """Those that a library solved."""
        return [shape for shape in self.shapes if shape.library]

    @property
    def shares(self) -> list[Share]:
        """The goals, and how many of the shapes or pairs that have one reach it."""
        near = [shape.ratio <= NEAR for shape in self.shapes]
        far = [shape.ratio <= FAR for shape in self.shapes]
        level = [pair.ratio <= LEVEL for _, pair in self.pairs]
        library = [shape.to_library <= SLOWER for shape in self.with_library]
        texts = (
            (f"best own variant within {NEAR:g} x of the bound", near, 0.90),
            (f"best own variant within {FAR:g} x of the bound", far, 1.0),
            (
                f"kokkos_specialised, else kokkos, at most {LEVEL:.2f} x native, same method",
                level,
                0.95,
            ),
            (f"at most {SLOWER:g} x the best library", library, 0.95),
        )
        return [
            Share(text, sum(hit), len(hit), goal) for text, hit, goal in texts if hit
        ]


def studies(rows: list[Row]) -> list[ShapeStudy]:
    """One for each device that shapes ran on; rows without a device never could run."""
    ceilings = measured_ceilings([row.case for row in rows])
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in of_study(rows):
        case = row.case
        if case.drawn and case.device_name and not case.null and not case.tuning:
            device = (case.device_kind, case.device_name)
            groups[case.comparison, case.context.build, device].append(row)
    by_device: dict[str, list[Shape]] = defaultdict(list)
    for group in groups.values():
        device = (group[0].case.device_kind, group[0].case.device_name)
        shape = make_shape(group, ceilings.get(device))
        by_device[shape.device].append(shape)
    return [
        ShapeStudy(device, sorted(shapes, key=lambda one: (-one.ratio, bool(one.best))))
        for device, shapes in by_device.items()
    ]


def make_shape(rows: list[Row], ceilings: Ceilings | None) -> Shape:
    """The shape of the rows of one comparison on one device."""
    case = rows[0].case
    of_own = [row for row in rows if row.case.kind in BY_HAND]
    mine = [row for row in of_own if row.case.launch_source != "tuned"]
    bound, unknown = bound_of(rows, ceilings)
    best = best_of(mine)
    return Shape(
        title=work_title(rows[0]),
        algorithm=case.algorithm,
        device=devices_text(case),
        bound=bound,
        best=best,
        library=best_of(r for r in rows if r.case.kind in (LIBRARY, PORTABLE_LIBRARY)),
        pairs=tuple(pairs_of(mine)),
        regrets=tuple(regrets_of(of_own)),
        rows=tuple(rows),
        reason=unknown if best else why_not(mine),
    )


def best_of(rows: Iterable[Row]) -> Row | None:
    """The fastest of those that passed."""
    passed = measured(list(rows))
    return fastest(passed) if passed else None


def bound_of(rows: list[Row], ceilings: Ceilings | None) -> tuple[float | None, str]:
    """The shortest time of the problem [s], or None and why."""
    known = [row.case for row in rows if row.case.bytes or row.case.operations]
    case = known[0] if known else rows[0].case
    start = problem_latency([row.case for row in rows], ceilings)
    bound = problem_bound(case, ceilings)
    if bound.seconds is None and known and bound.whole:
        return None, bound.note or "no ceiling measured on this device"
    return max(bound.seconds or 0.0, start) or None, bound.note


def pairs_of(mine: list[Row]) -> Iterable[Pair]:
    """Portable against native, method after method."""
    methods: dict[str, list[Row]] = defaultdict(list)
    for row in mine:
        methods[row.case.way].append(row)
    for method, rows in methods.items():
        native = leading(rows, NATIVE)
        portable = leading(rows, SPECIALISED) or leading(rows, PORTABLE)
        if native is None or portable is None:
            continue
        if native.median is not None or "FAILED" in (native.verdict, portable.verdict):
            yield Pair(method, portable, native)


def regrets_of(of_own: list[Row]) -> Iterable[Regret]:
    """Of the variants that have both launches."""
    variants: dict[tuple[str, str], dict[str, Row]] = defaultdict(dict)
    for row in measured(of_own):
        variants[row.case.way, row.case.model][row.case.launch_source] = row
    for launches in variants.values():
        if {"auto", "tuned"} <= launches.keys():
            yield Regret(launches["auto"], launches["tuned"])


def leading(rows: list[Row], kind: str) -> Row | None:
    """Of this kind of model what FAILED, else the fastest, else what was skipped."""
    some = [row for row in rows if row.case.kind == kind]
    failed = [row for row in some if row.verdict == "FAILED"]
    return next(iter(failed), None) or best_of(some) or next(iter(some), None)


def why_not(mine: list[Row]) -> str:
    """Why no own variant solved a shape: its failures, else the reasons of all."""
    failed = [row for row in mine if row.verdict == "FAILED"]
    reasons = dict.fromkeys(row.reason for row in failed or mine)
    return (
        f"{'FAILED' if failed else 'skipped'}: {'; '.join(reasons)}"
        if mine
        else "no own variant"
    )
