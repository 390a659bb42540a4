# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two means of written-once code over native, at default launches, each with its number and its worst.

The first is over same-method pairs: once(m) / native(m), of each problem and method that
has both. The second is over problems: the best written-once time / the fastest native,
so that a method without written-once code counts at the best written-once time of its
problem. A problem without any is left out, and counted. Ratios without an interval
are left out of both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from .factors import geometric_mean, quickest, ratio
from .gaps import field
from .kinds import NATIVE
from .rows import Row
from .selection import (
    NO_ALGORITHMS,
    automatic,
    devices_text,
    engine,
    measured,
    work_title,
)
from .writing import ONCE, tier


@dataclass(frozen=True)
class Mean:
    """The ratios that one mean is of, by problem and method; and how many problems have no written-once code."""

    ratios: dict[tuple[str, str], float]
    without: int = 0

    def __str__(self) -> str:
        """``1.204 (n = 12, worst 2.1: knn f32 n=8 fused)``."""
        if not self.ratios:
            return "none"
        value, worst = max((one, name) for name, one in self.ratios.items())
        mean = geometric_mean(list(self.ratios.values()))
        return (
            f"{mean:.3f} (n = {len(self.ratios)}, worst {value:.3f}: {' '.join(worst)})"
        )


@dataclass(frozen=True)
class Means:
    """The two means on one device."""

    device: str
    pairs: Mean
    problems: Mean


def means(rows: list[Row]) -> list[Means]:
    """One for each device and engine with written-once code and native."""
    devices: dict[str, dict[object, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in filter(automatic, measured(rows)):
        if row.case.algorithm not in NO_ALGORITHMS:
            device = ", ".join(filter(None, [devices_text(row.case), engine(row.case)]))
            devices[device][field(row)].append(row)
    found = [of_device(device, groups.values()) for device, groups in devices.items()]
    return [one for one in found if one.problems.ratios]


def of_device(device: str, groups: Iterable[list[Row]]) -> Means:
    """Over the problems of one device."""
    pairs: dict[tuple[str, str], float] = {}
    problems: dict[tuple[str, str], float] = {}
    without = 0
    for group in groups:
        once = [row for row in group if tier(row.case) == ONCE]
        native = [row for row in group if row.case.kind == NATIVE]
        without += bool(native) and not once
        fastest = quickest(native)
        if fastest is None:
            continue
        title = work_title(group[0])
        put(problems, (title, fastest.case.way), quickest(once), fastest)
        for way in dict.fromkeys(row.case.way for row in native):
            sides = (
                quickest(row for row in some if row.case.way == way)
                for some in (once, native)
            )
            put(pairs, (title, way), *sides)
    return Means(device, Mean(pairs), Mean(problems, without))


def put(
    ratios: dict[tuple[str, str], float],
    name: tuple[str, str],
    above: Row | None,
    below: Row | None,
) -> None:
    """Adds the ratio of two rows, where it has an interval."""
    found = ratio(above, below)
    if found and found.low is not None:
        ratios[name] = found.value


def texts(found: Iterable[Means]) -> list[str]:
    """Two lines a device."""
    lines = []
    for one in found:
        lines += [
            f"{ONCE} / native on {one.device}, default launches, same-method pairs: {one.pairs}",
            f"{ONCE} / native on {one.device}, default launches, all problems, best written-once time / fastest "
            f"native: {one.problems}"
            + f"; problems without written-once code, left out: {one.problems.without}"
            * bool(one.problems.without),
        ]
    return lines
