# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes that a study drew: the distribution of time over bound, a line an algorithm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..rows import Row
from ..shapes import FAR, NEAR, ShapeStudy
from .figure import Figure, cases_of, device_name, provenance

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

LINES = ("-", "--", "-.", ":")


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each device that has a shape with a ratio."""
    for one in found.shapes:
        if not any(math.isfinite(shape.ratio) for shape in one.shapes):
            continue
        title = (
            f"Time over bound of {len(one.shapes)} shapes, {device_name(one.device)}"
        )
        yield Figure(
            kind="shapes",
            algorithm="",
            title=title,
            caption=caption(one),
            cases=cases_of(row for shape in one.shapes for row in shape.rows),
            draw=partial(draw, one, title),
        )


def caption(one: ShapeStudy) -> str:
    """The caption: the share of shapes that reach each goal."""
    near, far = one.shares[:2]
    return (
        "The share of an algorithm's shapes whose best own variant takes at most so many times the bound, "
        "max(roofline, measured latency of its steps). "
        f"All algorithms together: {near.hits} of {near.of} within {NEAR:g} times, {far.hits} within {FAR:g} times. "
        "A line that ends below 100 % has shapes that were rejected or FAILED."
    )


def steps_of(ratios: list[float], count: int) -> tuple[list[float], list[float]]:
    """The corners of the distribution function: ratios ascending, and the share up to each."""
    known = sorted(ratio for ratio in ratios if math.isfinite(ratio))
    return known, [(number + 1) / count for number in range(len(known))]


def draw(one: ShapeStudy, title: str) -> Canvas:
    """Steps over a logarithmic axis, with the two goals."""
    from . import style

    figure, (panel,) = style.canvas(4.2)
    panel.set_xscale("log")
    ratios: dict[str, list[float]] = {}
    for shape in one.shapes:
        ratios.setdefault(shape.algorithm, []).append(shape.ratio)
    colours, marks = len(style.CYCLE), len(style.MARKERS)
    for number, algorithm in enumerate(sorted(ratios)):
        values, shares = steps_of(ratios[algorithm], len(ratios[algorithm]))
        look: style.Properties = {
            "color": style.CYCLE[number % colours],
            "marker": style.MARKERS[(number + number // colours) % marks],
            "linestyle": LINES[number // colours % len(LINES)],
        }
        label = f"{algorithm} ({len(ratios[algorithm])})"
        panel.plot(
            values, shares, drawstyle="steps-post", markersize=3.5, label=label, **look
        )
    near, far = one.shares[:2]
    for share, goal in ((near, NEAR), (far, FAR)):
        text = f"goal: {goal:g} x on {100 * share.goal:.0f} %"
        panel.axvline(goal, color=style.INK, linestyle=":", linewidth=1.2, label=text)
    panel.set_ylim(0, 1.03)
    style.log_axis(panel.xaxis)
    panel.set_yticks(
        [0, 0.25, 0.5, 0.75, 0.9, 1], ["0", "25 %", "50 %", "75 %", "90 %", "100 %"]
    )
    panel.set_xlabel("time of the best own variant / bound (log)")
    panel.set_ylabel("share of the shapes")
    style.legend(panel)
    under = provenance(cases_of(row for shape in one.shapes for row in shape.rows))
    return style.finish(figure, title, under)
