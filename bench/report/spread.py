# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How far two runs are apart where the program is not: two devices of one name, or two days.

Samples of one run do not hold it, and so no interval does. It is estimated from the ratios
of all cases that both runs have on devices of one name, and it is a lower limit of the
margin: a verdict between the runs allows the larger of the two.

- Of one build nothing but device and day differs: the spread is the share that 95 % of the
  ratios keep within.
- Of two builds some cases changed, and these must not raise the margin that finds them.
  Most changes go one way. The spread is then taken on the other side: the distance from the
  median of the ratios to the nearer of their quantiles at 2.5 % and 97.5 %. A shift of all
  cases together is not in it: it can be the change. Where a build makes more than one case
  in forty faster and as many slower, the smaller of the two effects counts as spread.

Devices of different names differ by more than a spread; their margin is the given one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from .case import Case
from .hosts import model_of
from .statistics import Estimate

MIN_CASES = 8  # with intervals; below, quantiles say little
SHARE = 0.95  # of the ratios lie within the spread

Device = tuple[str, str]  # kind, name


@dataclass(frozen=True)
class Compared:
    """One case in both runs, and its ratio."""

    a: Case
    b: Case
    ratio: Estimate


@dataclass(frozen=True)
class Spread:
    """Of one device, as a share: 0.01 is one per cent; None: of too few cases."""

    device: str
    share: float | None
    cases: int
    one_build: bool

    @property
    def text(self) -> str:
        """For people, behind the margin."""
        if self.share is None:
            return f"the spread between the runs is not known: {self.cases} cases, fewer than {MIN_CASES}"
        side = "" if self.one_build else ", on the side where it is less"
        return f"spread between the runs {100 * self.share:.2g} %: 95 % of {self.cases} ratios are within{side}"


def device_of(one: Compared) -> Device | None:
    """The device that both runs name so; None where they differ."""
    names = {model_of(case) for case in (one.a, one.b)}
    return (one.a.device_kind, names.pop()) if len(names) == 1 else None


def of_one_build(ratios: Sequence[Estimate]) -> float:
    """The share that 95 % of the ratios keep within."""
    sizes = sorted(abs(math.log(one.value)) for one in ratios)
    return math.expm1(sizes[math.ceil(SHARE * len(sizes)) - 1])


def of_two_builds(ratios: Sequence[Estimate]) -> float:
    """From the median of the ratios to the nearer end of the middle 95 %."""
    logs = sorted(math.log(one.value) for one in ratios)
    cut, middle = int((1 - SHARE) / 2 * len(logs)), median(logs)
    return math.expm1(min(middle - logs[cut], logs[-1 - cut] - middle))


def spreads(found: Iterable[Compared]) -> dict[Device, Spread]:
    """Of each device that both runs have."""
    groups: dict[Device, list[Compared]] = defaultdict(list)
    for one in found:
        if one.ratio.low is not None and (device := device_of(one)):
            groups[device].append(one)
    return {device: spread(device, some) for device, some in groups.items()}


def spread(device: Device, some: Sequence[Compared]) -> Spread:
    """Of the cases on one device."""
    builds = {case.context.build for one in some for case in (one.a, one.b)}
    share, ratios = None, [one.ratio for one in some]
    if len(some) >= MIN_CASES:
        share = (of_one_build if len(builds) == 1 else of_two_builds)(ratios)
    return Spread(device[1] or device[0], share, len(some), len(builds) == 1)


def margin_of(one: Compared, found: dict[Device, Spread], margin: float) -> float:
    """The margin of its verdict: the given one, or the spread where that is larger."""
    device = device_of(one)
    share = found[device].share if device in found else None
    return max(margin, share or 0.0)


def texts(found: dict[Device, Spread], margin: float) -> list[str]:
    """The margin of each device, and why."""
    return [
        f"{one.device}: margin {100 * max(margin, one.share or 0.0):.2g} %; {one.text}"
        for one in found.values()
    ]
