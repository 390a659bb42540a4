# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The whole league at a glance: Kokkos over native and over the best of all, problem by problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING

from ..factors import ratio
from ..findings import Findings
from ..gaps import Gap
from ..options import MARGIN
from ..ratios import judge
from ..rows import Row
from ..selection import NO_ALGORITHMS, work_title
from ..statistics import Estimate
from ..units import exact, per_cent, plain
from ..writing import FLAT, ONCE, SEVERAL, SPECIAL, TIERS
from .figure import Figure, cases_of, device_text, provenance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

    from .style import Look

TALLEST = 45  # rows
LONGEST = 72  # characters of a label
MARKERS = {FLAT: "triangles", ONCE: "circles", SEVERAL: "squares", SPECIAL: "pentagons"}


@dataclass(frozen=True)
class Mark:
    """How many times slower a tier is on one problem; None where that is not known."""

    tier: str
    native: Estimate | None  # than the native of its method
    best: Estimate | None  # than the best of all

    @property
    def resolved(self) -> bool:
        """Whether the ratio to native has a verdict."""
        return self.native is not None and certain(self.native)


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each device on which Kokkos and others were measured."""
    devices: dict[str, list[Gap]] = {}
    for gap in found.gaps:
        case = gap.row.case
        if gap.algorithm not in NO_ALGORITHMS and case.devices == 1:
            devices.setdefault(device_text(case), []).append(gap)
    for device, some in devices.items():
        shown = some[:TALLEST]
        title = f"Times slower, {device}"
        cut = f" The first {TALLEST} of {len(some)} are shown." * (len(some) > TALLEST)
        yield Figure(
            kind="overview",
            algorithm="",
            title=title,
            caption=f"{caption(shown)}{cut}",
            cases=cases_of(row for gap in shown for row in rows_of(gap)),
            draw=partial(draw, shown, title),
        )


def certain(ratio: Estimate) -> bool:
    """Whether a ratio has a verdict."""
    return judge(ratio, MARGIN) not in ("", "unresolved")


def rows_of(gap: Gap) -> list[Row]:
    """What is drawn of a problem."""
    every = (*gap.tiers.values(), gap.native, gap.twin, gap.best)
    return [row for row in every if row]


def marks(gap: Gap) -> list[Mark]:
    """One for each tier of Kokkos' code that solved the problem."""
    native = {SPECIAL: gap.special_ratio, (ONCE if gap.once else SEVERAL): gap.ratio}
    return [
        Mark(tier, native.get(tier), ratio(row, gap.best))
        for tier, row in gap.tiers.items()
        if row
    ]


def caption(shown: list[Gap]) -> str:
    """What the marks are, and what they say: of resolved ratios the range, of unresolved ones the number."""
    every = [mark for gap in shown for mark in marks(gap)]
    found = [tier for tier in TIERS if tier in {mark.tier for mark in every}]
    text = (
        f"Times slower: right of 1 Kokkos is slower. {'; '.join(f'{MARKERS[tier]}: {tier}' for tier in found).capitalize()}. "
        f"{ONCE.capitalize()} and {SEVERAL}: kokkos, by the method that is fastest at its default launch. "
        "Left panel: against native code of the same method; right panel: against the best of all; "
        f"each side at its best launch. Bars are 95 % intervals, hollow marks are unresolved, the grey band is {per_cent(MARGIN)} to both sides, "
        f"arrows point to values beyond the axis. Of {len(shown)} problems and precision classes:"
    )
    told = []
    for tier in found:
        some = [mark for mark in every if mark.tier == tier]
        told.append(f"{tier} (in {len(some)}), {said(some)}")
    return f"{text} {'; '.join(told)}."


def said(some: list[Mark]) -> str:
    """``against native 20 of 27 resolved ratios lie in the band, from 0.97 to 1.1, and 2 are unresolved, ...``."""
    known = [mark for mark in some if mark.native]
    ratios = [mark.native.value for mark in known if mark.resolved and mark.native]
    band = sum(1 / (1 + MARGIN) <= value <= 1 + MARGIN for value in ratios)
    best = [mark.best.value for mark in some if mark.best]
    against = f"against the best up to {plain(max(best))}"
    if not known:
        return against
    text = f"against native {len(ratios)} ratios are resolved"
    if ratios:
        text += f", from {plain(min(ratios))} to {plain(max(ratios))}, {band} of them in the band"
    if unknown := len(known) - len(ratios):
        text += f", {unknown} more {'is' if unknown == 1 else 'are'} unresolved"
    return f"{text}; {against}"


def label(gap: Gap) -> str:
    """``knn f32, 52,500 x 17,500 x 784``: a problem in one short line; parameters that have no room are left out."""
    case = gap.row.case
    sizes = " x ".join(map(exact, case.sizes.values()))
    rest = [w for w in gap.row.problem.split() if w.split("=")[0] not in case.sizes]
    kind = f" in {gap.precision}" if gap.precision != case.dtype else ""
    whole = f"{work_title(gap.row, sizes=False)}{kind}, {' '.join([sizes, *rest])}"
    return shorten(whole.replace(" ,", ","), LONGEST, placeholder=" …")


def limits(ratios: list[float]) -> tuple[float, float]:
    """Of the axis: 0.8 to 1.25, wider for what most problems show; a few beyond do not flatten the others."""
    ordered = sorted(ratios)
    few = len(ordered) // 8
    low, high = (ordered[few], ordered[-1 - few]) if ordered else (1.0, 1.0)
    return min(0.8, low) / 1.05, max(1.25, high) * 1.05


def draw(shown: list[Gap], title: str) -> Canvas:
    """Marks with intervals on two logarithmic axes; an arrow and the value where a mark lies beyond."""
    from . import style

    figure, panels = style.canvas(1.7 + 0.21 * len(shown), 1, 9.6, 2, sharey=True)
    every = [(place, mark) for place, gap in enumerate(shown) for mark in marks(gap)]
    best = [mark.best.value for _, mark in every if mark.best]
    native = [mark.native.value for _, mark in every if mark.native]
    ends = (limits(native), (0.9, max([1.25, *best]) * 1.2))
    for panel, (low, high) in zip(panels, ends):
        panel.set_xscale("log")
        panel.axvspan(1 / (1 + MARGIN), 1 + MARGIN, color=style.GRID, linewidth=0)
        panel.axvline(1, color=style.INK, linewidth=1)
        panel.set_xlim(low, high)
        panel.grid(axis="y", visible=False)
        style.ratio_axis(panel.xaxis)
    for place, mark in every:
        draw_mark(panels[0], place, mark, mark.native)
        draw_mark(panels[1], place, mark, mark.best)
    panels[0].set_yticks(range(len(shown)), map(label, shown), fontsize=8)
    panels[0].set_ylim(len(shown) - 0.4, -0.6)
    panels[0].set_xlabel("Kokkos / native, same method (log)")
    panels[1].set_xlabel("Kokkos / best of all (log)")
    for tier in dict.fromkeys(mark.tier for _, mark in every):
        panels[0].plot([], [], label=f"Kokkos, {tier}", **look_of(tier).mark)
    style.legend(panels[0])
    under = provenance(row.case for gap in shown for row in rows_of(gap))
    return style.finish(figure, title, under)


def look_of(tier: str) -> Look:
    """Each tier in its colour and shape, since their marks overlap."""
    from . import style

    return {
        FLAT: style.Look(style.GREEN, "^", True),
        ONCE: style.Look(style.BLUE, "o", True),
        SEVERAL: style.Look(style.PURPLE, "s", True),
        SPECIAL: style.Look(style.ORANGE, "p", True),
    }[tier]


def draw_mark(panel: Axes, place: int, mark: Mark, found: Estimate | None) -> None:
    """One mark and its interval."""
    if found is None:
        return
    from . import style

    look = look_of(mark.tier)
    span = [found.low or found.value, found.high or found.value]
    panel.plot(span, [place, place], color=look.colour, linewidth=2.4, alpha=0.55)
    face = look.colour if certain(found) else style.PAPER
    shown = {"color": look.colour, "markerfacecolor": face}
    style.held(panel, found.value, place, look.marker, shown)
