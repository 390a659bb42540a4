# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Test accuracy against epochs: the mean over the seeds, and their range as a band."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..learning import Training, by_problem, expected_text, per_cent, without_seed
from ..rows import Row
from ..selection import work_title
from .figure import Figure, cases_of, device_text, provenance, weight, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MAX_LINES = 8  # as many as there are colours and markers
MAX_FIGURES = 6  # figures of one algorithm


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each problem that was trained on, the largest first."""
    problems = by_problem(found.trainings)
    drawn: dict[str, int] = {}
    for group in sorted(problems, key=lambda group: -weight(group[0].case)):
        case = group[0].case
        drawn[case.algorithm] = drawn.get(case.algorithm, 0) + 1
        if drawn[case.algorithm] > MAX_FIGURES:
            continue
        shown = group[:MAX_LINES]
        title, first = f"Test accuracy: {group[0].title}", group[0].rows[0]
        yield Figure(
            kind="learning",
            algorithm=case.algorithm,
            title=title,
            caption=caption(group),
            cases=cases_of(row for one in shown for row in one.rows),
            draw=partial(draw, shown, title),
            name=f"Test accuracy: {without_seed(whole(work_title(first), first))}",
        )


def caption(group: list[Training]) -> str:
    """The caption: how to read it, and the accuracy after the last epoch."""
    best, worst = (pick(group, key=lambda one: one.mean) for pick in (max, min))
    epochs = group[0].curves.shape[1]
    text = (
        "Share of the test images that are classified right after each epoch: mean over the seeds, "
        f"and as a band from the minimum to the maximum. After {epochs} epoch{'s' if epochs > 1 else ''} "
        f"{name(best, group)} has {per_cent(best.mean)} (mean of {len(best.rows)})"
    )
    if worst is not best:
        text += f", {name(worst, group)} {per_cent(worst.mean)}"
    if len(group) > MAX_LINES:
        text += f"; {len(group) - MAX_LINES} more variants are in the table"
    if group[0].band:
        text += f". The bar at the end is where the study expects it, {expected_text(group[0]).split(':')[0]}"
    return text + "."


def name(one: Training, group: list[Training]) -> str:
    """The variant; its device where there are several."""
    devices = {device_text(other.case) for other in group}
    here = f", {device_text(one.case)}" if len(devices) > 1 else ""
    return one.variant + here


def draw(group: list[Training], title: str) -> Canvas:
    """A line and a band for each variant."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    from . import style

    figure, (panel,) = style.canvas(3.9)
    for number, one in enumerate(group):
        curves, look = one.curves, style.look(one.case.kind)
        epochs = range(1, curves.shape[1] + 1)
        colour = style.CYCLE[number % len(style.CYCLE)]
        if len(one.rows) > 1:
            low, high = curves.min(axis=0), curves.max(axis=0)
            panel.fill_between(epochs, low, high, color=colour, alpha=0.15, linewidth=0)
        panel.plot(
            epochs,
            curves.mean(axis=0),
            look.line,
            marker=style.MARKERS[number % len(style.MARKERS)],
            color=colour,
            markerfacecolor=colour if look.filled else style.PAPER,
            label=name(one, group),
        )
    last = group[0].curves.shape[1]
    if band := group[0].band:
        panel.plot(
            [last + 0.3] * 2,
            band,
            color=style.INK,
            linewidth=4,
            alpha=0.6,
            label="expected",
        )
    panel.set_xlim(0.5, last + 0.6)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{100 * v:.4g} %"))
    panel.set_xlabel("epoch")
    panel.set_ylabel("test accuracy")
    style.legend(panel)
    return style.finish(
        figure, title, provenance(c for one in group for c in cases_of(one.rows))
    )
