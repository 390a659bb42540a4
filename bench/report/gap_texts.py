# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gap as cells of a table and as lines of text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from . import units
from .factors import (
    BESIDE,
    FACTORS,
    FLAT_COST,
    FLAT_SEARCHED,
    JOINT,
    LAYER,
    RECOVERED,
    WHOLE,
    geometric_mean,
)
from .gaps import Gap
from .options import MARGIN
from .ratios import judge
from .rows import Row
from .selection import time, variant
from .statistics import Estimate
from .writing import FLAT, ONCE, SEVERAL, SPECIAL, TIERS

BEST, LIBRARY, BLANK = "best of all", "best library or peer", "blank because"
RATIO = "Kokkos / native"
TIMES = (*TIERS, "native", BEST)
TIER_COLUMNS = (*TIMES, RATIO, LIBRARY)
COLUMNS = ("problem", "device", WHOLE, *FACTORS, BEST, *BESIDE, BLANK)
NUMBERS = (WHOLE, *FACTORS, *BESIDE)
TIERS_TEXT = (
    f"{FLAT}: Kokkos without teams. {ONCE}: kokkos with one body for every kind of device, by the method that is fastest at its default launch. "
    f"{SEVERAL}: kokkos with a body for each kind of device, which is not {ONCE}; blank {ONCE}: there is no such kernel. "
    f"{SPECIAL}: kokkos_specialised, by its fastest method. native: of the method {ONCE}, without one of that with {SEVERAL}. "
    f"{BEST}: libraries and peers included. Each at its best launch. {RATIO}: {ONCE}, without one {SEVERAL}, over native."
)
DEFINITIONS = (
    f"{WHOLE} = {ONCE} at its default launch / {BEST} = {' x '.join(FACTORS)}; above 1, {ONCE} is slower. "
    f"{ONCE} is the method m that is fastest at its default launch. tuning: its default / its best launch. "
    "language: it / native m. method: native m / the fastest native that uses only what Kokkos' API reaches. "
    "reach: that / the fastest native (matrix units, clusters). library: the fastest native / the best of all, libraries, "
    f"peers and Kokkos included. A cell '{JOINT}' is one factor: there is no native m. A kernel with {SEVERAL} is no side of a factor. "
    f"Beside it: {FLAT_COST} and {FLAT_SEARCHED}, {FLAT} / {ONCE} at default and at searched launches; {LAYER}, kokkos_specialised / native of its "
    f"method, where both have the same device code; {RECOVERED}, the share of the gap that "
    f"kokkos_specialised recovers, ln({ONCE} / kokkos_specialised) / ln({ONCE} / {BEST}), blank within {100 * MARGIN:.0f} % of the best."
)


def tier_cells(gap: Gap) -> tuple[str, ...]:
    """The texts by TIMES, then the ratio to native, and the best library or peer."""
    return (
        *(time_text(row, model=False) for row in gap.tiers.values()),
        time_text(gap.native),
        time_text(gap.best),
        ratio_text(gap.ratio),
        time_text(gap.library),
    )


def time_text(row: Row | None, model: bool = True) -> str:
    """``30.84 ms cuda fused``; nothing without a row."""
    if row is None:
        return ""
    who = [row.case.model] * model + [row.case.method_text]
    return " ".join([units.seconds(time(row)), *who])


def certain(gap: Gap) -> bool:
    """Whether its factors have intervals: others enter no mean."""
    return all(factor.low is not None for factor in gap.factors.values())


def texts(found: list[Gap]) -> list[str]:
    """For each algorithm and device the geometric means, over the problems that have the same factors."""
    groups: dict[tuple[str, str], list[Gap]] = defaultdict(list)
    for gap in found:
        groups[gap.algorithm, gap.device].append(gap)
    return [line for key, group in groups.items() for line in group_texts(*key, group)]


def left_out(found: Iterable[Gap]) -> list[str]:
    """``no written-once kernel: kokkos has several bodies: 3 of 4 problems``: why tiers are blank."""
    some = list(found)
    reasons = Counter(gap.blank[WHOLE] for gap in some if gap.once is None)
    return [f"{why}: {n} of {len(some)} problems" for why, n in reasons.items()]


def group_texts(algorithm: str, device: str, group: list[Gap]) -> list[str]:
    """``gap of knn, NVIDIA H200: 22.7 = tuning 1.00 x language 0.99 x ...``; then what enters no mean."""
    known: dict[tuple[str, ...], list[Gap]] = defaultdict(list)
    out: Counter[str] = Counter()
    for gap in group:
        if gap.whole is None:
            out[gap.blank[WHOLE]] += 1
        elif not certain(gap):
            out["without an interval"] += 1
        else:
            known[tuple(gap.parts)].append(gap)
    lines = [means_text(some) for some in known.values()]
    lines += [f"{count} left out: {why}" for why, count in out.items()]
    return [f"gap of {algorithm}, {device}: {line}" for line in lines]


def means_text(group: list[Gap]) -> str:
    """``1.03 = language 1.02 x method 1.01 (means of 2 problems; largest 1.05: f32 n=8)``."""
    wholes = [gap.factors[WHOLE].value for gap in group]
    parts = [
        f"{name} {geometric_mean([gap.factors[name].value for gap in group]):.3f}"
        for name in group[0].parts
    ]
    text = f"{geometric_mean(wholes):.3f} = {' x '.join(parts)}"
    if len(group) < 2:
        return text
    value, place = max((value, -i) for i, value in enumerate(wholes))
    worst = f"largest {value:.3f}: {group[-place].problem}"
    return f"{text} (means of {len(group)} problems; {worst})"


def cells(found: Iterable[Gap]) -> list[tuple[str, ...]]:
    """A row of texts by COLUMNS for each gap."""
    return [
        (
            gap.title,
            gap.device,
            *numbers(gap),
            variant(gap.best.case),
            *besides(gap),
            blank_text(gap),
        )
        for gap in found
    ]


def numbers(gap: Gap) -> tuple[str, ...]:
    """The whole gap and its factors."""
    texts = {name: factor_text(one) for name, one in gap.factors.items()}
    if JOINT in texts:
        texts["language"] = f"{texts[JOINT]} {JOINT}"
    return tuple(texts.get(name, "") for name in (WHOLE, *FACTORS))


def besides(gap: Gap) -> tuple[str, ...]:
    """What stands beside the factors."""
    return tuple(
        (f"{100 * value:.0f} %" if name == RECOVERED else f"{value:.3f}")
        if (value := gap.beside.get(name)) is not None
        else ""
        for name in BESIDE
    )


def blank_text(gap: Gap, names: Sequence[str] = (WHOLE, *FACTORS, JOINT)) -> str:
    """``tuning: one launch measured; language, method: no native wide``."""
    reasons: dict[str, list[str]] = defaultdict(list)
    for name, why in gap.blank.items():
        if name in names:
            reasons[why].append(name)
    return "; ".join(f"{', '.join(some)}: {why}" for why, some in reasons.items())


def ratio_text(ratio: Estimate | None) -> str:
    """``1.026 [1.024, 1.027] slower``; nothing without an interval."""
    if ratio is None or ratio.low is None:
        return ""
    return f"{factor_text(ratio)} {judge(ratio, MARGIN)}"


def factor_text(factor: Estimate) -> str:
    """``1.026 [1.025, 1.027]``; a row over itself is 1."""
    if factor == Estimate(1.0, 1.0, 1.0):
        return "1"
    return str(units.ratio(factor.value, factor.low, factor.high))
