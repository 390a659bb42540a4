# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two folders of records side by side: two machines, Kokkos versions, or commits.

Each case that both name is compared by median time in B over median time in A: above 1,
B is slower. The two sides share no program launch, so each draws its own in
the bootstrap. The margin of a verdict is the given one, or the spread between the two runs
where that is larger (spread.py). A regression is a verdict of slower on a median beyond the margin, or a
case that passed in A and failed in B, or was skipped there, or is not there at all.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from . import builds, detectable, hosts, spread, statistics
from .case import Case
from .ratios import judge
from .spread import Compared, Device, Spread
from .statistics import Estimate

ALIKE = (
    *("algorithm", "method", "execution", "model", "dtype"),
    *("sizes", "parameters", "metric"),
)


@dataclass(frozen=True)
class Pair:
    """One case in both folders; no ratio where the two may not be compared."""

    name: str
    a: Case
    b: Case
    ratio: Estimate | None  # B / A
    verdict: str  # of B; "not compared" with the reason
    reason: str = ""
    regression: bool = False
    improvement: bool = False
    detectable: float | None = None  # smallest difference that a verdict would find


@dataclass(frozen=True)
class Comparison:
    """All pairs in the order of A, the spread of their devices, and what only one folder has."""

    pairs: list[Pair]
    spreads: dict[Device, Spread]
    only_a: list[str]
    only_b: list[str]
    missing: list[str]  # of only_a what passed there: a regression too

    @property
    def regressions(self) -> list[Pair]:
        """Slower in B by more than the margin, or failed there."""
        return [pair for pair in self.pairs if pair.regression]

    @property
    def improvements(self) -> list[Pair]:
        """Faster in B by more than the margin."""
        return [pair for pair in self.pairs if pair.improvement]


def ratio(a: Case, b: Case) -> Estimate:
    """B / A, which share no launch."""
    above, below = (list(case.launches.values()) for case in (b, a))
    return statistics.independent_ratio(above, below)


def by_name(cases: list[Case]) -> dict[tuple[str, str], list[Case]]:
    """Cases that were not skipped, by name and kind of device."""
    found: dict[tuple[str, str], list[Case]] = defaultdict(list)
    for case in cases:
        if case.status != "skipped" and not case.null:
            found[case.name, case.device_kind].append(case)
    return found


def side_by_side(a: list[Case], b: list[Case], margin: float) -> Comparison:
    """Pairs by name; A's order."""
    left, right = by_name(a), by_name(b)
    pairs = [make_pair(left[key], right[key]) for key in left if key in right]
    compared = {i: c for i, pair in enumerate(pairs) if (c := compared_of(pair))}
    spreads = spread.spreads(compared.values())
    for i, one in compared.items():
        pairs[i] = judged(pairs[i], one, spread.margin_of(one, spreads, margin))
    gone = [key for key in left if key not in right]
    return Comparison(
        pairs,
        spreads,
        only_a=[name for name, _ in gone],
        only_b=[key[0] for key in right if key not in left],
        missing=[k[0] for k in gone if any(c.status == "passed" for c in left[k])],
    )


def several(cases: list[Case]) -> str:
    """``2 builds (git a | b)``, ``2 hosts (n1, n2)``: of what the cases of one name are."""
    names = list(dict.fromkeys(case.host for case in cases))
    if len(names) > 1 and len({hosts.model_of(case) for case in cases}) == 1:
        return f"{len(names)} hosts ({', '.join(names)}; of a GPU --pool-hosts takes them together)"
    found = list(dict.fromkeys(case.context.build for case in cases))
    if len(found) > 1:
        return f"{len(found)} builds ({builds.differences(found)})"
    return f"{len(cases)} devices ({', '.join(case.device_name for case in cases)})"


def compared_of(pair: Pair) -> Compared | None:
    """The pair with its ratio; None where it has none."""
    return Compared(pair.a, pair.b, pair.ratio) if pair.ratio else None


def make_pair(left: list[Case], right: list[Case]) -> Pair:
    """One pair, not judged yet; several cases of one name are of several builds or devices."""
    a, b = left[0], right[0]
    for side, cases in (("A", left), ("B", right)):
        if len(cases) > 1:
            reason = f"{side} has it of {several(cases)}"
            return Pair(a.name, a, b, None, "not compared", reason)
    if "failed" in (a.status, b.status):
        side = "B" if b.status == "failed" else "A"
        reason = f"failed in {side}: {(b if side == 'B' else a).reason}"
        fell = a.status == "passed"
        return Pair(a.name, a, b, None, "not compared", reason, regression=fell)
    differ = [key for key in ALIKE if getattr(a, key) != getattr(b, key)]
    if differ:
        what = ", ".join(
            f"{key} {getattr(a, key)!r:.60} and {getattr(b, key)!r:.60}"
            for key in differ
        )
        return Pair(a.name, a, b, None, "not compared", f"different {what}")
    return Pair(a.name, a, b, ratio(a, b), "")


def judged(pair: Pair, one: Compared, margin: float) -> Pair:
    """The pair of two cases that may be compared, with its verdict."""
    verdict = judge(one.ratio, margin)
    beyond = max(one.ratio.value, 1 / one.ratio.value) > 1 + margin
    return replace(
        pair,
        verdict=verdict or "unresolved",
        reason="" if verdict else "too few samples for an interval",
        regression=verdict == "slower" and beyond,
        improvement=verdict == "faster" and beyond,
        detectable=detectable.of_ratio(one.ratio, margin),
    )
