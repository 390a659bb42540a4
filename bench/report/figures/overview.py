# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The whole league at a glance: native over portable, problem by problem."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING

from ..findings import Findings
from ..gaps import Gap
from ..rows import Row
from ..selection import NO_ALGORITHMS, work_title
from ..statistics import MARGIN, Estimate
from ..units import exact, per_cent, plain
from .figure import Figure, cases_of, device_text, provenance

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

TALLEST = 45  # rows
LONGEST = 84  # characters of a label


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each device on which portable and native were measured."""
    devices: dict[str, list[Gap]] = {}
    for gap in found.gaps:
        leads = gap.leads and gap.algorithm not in NO_ALGORITHMS
        if gap.ratio and leads and gap.portable.case.devices == 1:
            devices.setdefault(device_text(gap.portable.case), []).append(gap)
    for device, some in devices.items():
        shown = some[:TALLEST]
        ratios = [ratio(gap).value for gap in shown]
        title = f"Native / portable, {device}"
        level = sum(1 / (1 + MARGIN) <= ratio <= 1 + MARGIN for ratio in ratios)
        rest = (
            f" The first {TALLEST} of {len(some)} are shown."
            if len(some) > TALLEST
            else ""
        )
        pentagons = any(gap.blocks_ratio for gap in shown)
        special = " Pentagons: native / kokkos_blocks." if pentagons else ""
        yield Figure(
            kind="overview",
            algorithm="",
            title=title,
            caption="Right of the line at 1 portable code is faster, left of it native code; bars are 95 % intervals, arrows point to values beyond the axis, the grey "
            f"band is {per_cent(MARGIN)} to both sides. Medians of {level} of {len(shown)} problems lie in the band, from "
            f"{plain(min(ratios))} to {plain(max(ratios))} over all. Each side at its best launch, same method.{special}{rest}",
            cases=cases_of(
                row for gap in shown for row in (gap.portable, gap.native) if row
            ),
            draw=partial(draw, shown, title),
        )


def ratio(gap: Gap) -> Estimate:
    """Native over portable. @pre both were measured"""
    assert gap.ratio is not None
    return gap.ratio


def label(gap: Gap) -> str:
    """``knn f32 fused, 52,500 x 17,500 x 784``: a problem in one short line; parameters that have no room are left out."""
    words = [*work_title(gap.portable, sizes=False).split(), gap.variant]
    case = gap.portable.case
    sizes = " x ".join(map(exact, case.sizes.values()))
    rest = [w for w in gap.sizes.split() if w.split("=")[0] not in case.sizes]
    whole = f"{' '.join(dict.fromkeys(words))}, {' '.join([sizes, *rest])}"
    return shorten(whole, LONGEST, placeholder=" …")


def limits(ratios: list[float]) -> tuple[float, float]:
    """Of the axis: 0.8 to 1.25, wider for what most problems show; a few beyond do not flatten the others."""
    ordered = sorted(ratios)
    few = len(ordered) // 8
    low, high = ordered[few], ordered[-1 - few]
    return min(0.8, low) / 1.05, max(1.25, high) * 1.05


def draw(shown: list[Gap], title: str) -> Canvas:
    """Dots with intervals on a logarithmic axis; an arrow and the value where a dot lies beyond."""
    from . import style

    figure, (panel,) = style.canvas(1.4 + 0.21 * len(shown), width=8.4)
    panel.set_xscale("log", base=2)
    panel.axvspan(1 / (1 + MARGIN), 1 + MARGIN, color=style.GRID, linewidth=0)
    panel.axvline(1, color=style.INK, linewidth=1)
    ratios = [ratio(gap).value for gap in shown]
    ratios += [gap.blocks_ratio.value for gap in shown if gap.blocks_ratio]
    ends = limits(ratios)
    panel.set_xlim(*ends)
    for place, gap in enumerate(shown):
        found = ratio(gap)
        faster = found.value >= 1
        colour = style.BLUE if faster else style.RED
        span = [found.low or found.value, found.high or found.value]
        panel.plot(span, [place, place], color=colour, linewidth=2.4, alpha=0.55)
        mark = {"color": colour, "markerfacecolor": colour if faster else style.PAPER}
        style.held(panel, found.value, place, "o", mark)
        blocks = gap.blocks_ratio
        inside = ends[0] <= found.value <= ends[1]
        if blocks and (inside or ends[0] <= blocks.value <= ends[1]):
            special = {"color": style.INK, "markerfacecolor": "none"}
            style.held(panel, blocks.value, place, "p", special)
    labels = [label(gap) for gap in shown]
    panel.set_yticks(range(len(shown)), labels, fontsize=8)
    panel.set_ylim(len(shown) - 0.4, -0.6)
    panel.grid(axis="y", visible=False)
    style.ratio_axis(panel.xaxis)
    panel.set_xlabel("native / portable (log)")
    under = provenance(
        row.case for gap in shown for row in (gap.portable, gap.native) if row
    )
    return style.finish(figure, title, under)
