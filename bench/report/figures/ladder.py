# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ladder: the time of every method from the naive one up, native beside portable.

A study whose name begins with "ladder" has its methods in the order of the rungs, and
its records keep that order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..rows import Row
from ..selection import time
from ..units import plain, seconds
from .figure import (
    Figure,
    by,
    cases_of,
    largest_problems,
    problem_here,
    problem_title,
    provenance,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MARK = "ladder"  # how the name of such a study begins
MIN_RUNGS = 2


@dataclass(frozen=True)
class Rung:
    """A method, and its models at their fastest launches."""

    method: str
    rows: tuple[Row, ...]  # fastest first

    @property
    def time(self) -> float:
        """That of its fastest model."""
        return time(self.rows[0])


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each of the largest problems of such a study on one kind of device."""
    marked = [r for r in rows if study(r).startswith(MARK)]
    groups = [
        g for g in by(marked, problem_here).values() if len(rungs(g)) >= MIN_RUNGS
    ]
    for group in largest_problems(groups):
        shown = rungs(group)
        title = f"Ladder: {problem_title(group[0])}"
        yield Figure(
            kind="ladder",
            algorithm=group[0].case.algorithm,
            title=title,
            caption=caption(shown),
            cases=cases_of(row for rung in shown for row in rung.rows),
            draw=partial(draw, shown, title),
        )


def study(row: Row) -> str:
    """The name of the study that measured a row."""
    return dict(row.case.context.facts).get("study", "")


def rungs(group: list[Row]) -> list[Rung]:
    """The methods in the order of their rows; times on one clock only."""
    methods: dict[str, dict[str, Row]] = {}
    for row in group:
        case = row.case
        if case.metric != group[0].case.metric:
            continue
        models = methods.setdefault(case.method_text, {})
        if case.model not in models or time(row) < time(models[case.model]):
            models[case.model] = row
    return [
        Rung(method, tuple(sorted(models.values(), key=time)))
        for method, models in methods.items()
    ]


def caption(shown: list[Rung]) -> str:
    """How to read it, and what the climb brings."""
    first, best = shown[0], min(shown, key=lambda rung: rung.time)
    return (
        "From the naive method at the top down to the one with most work put into it; further left is "
        "faster, the axis is logarithmic. Beside each rung: the time of its fastest model, and how many "
        f"times as fast as the first rung that is. {first.method} takes {seconds(first.time)}, "
        f"{best.method} {seconds(best.time)}: {plain(first.time / best.time)} times as fast. Each model at "
        "its fastest launch; whiskers are 95 % intervals."
    )


def draw(shown: list[Rung], title: str) -> Canvas:
    """A line of marks for each rung, one mark per model."""
    from . import style

    every = [row for rung in shown for row in rung.rows]
    figure, (panel,) = style.canvas(1.5 + 0.27 * len(shown))
    panel.set_xscale("log")
    low, high = min(map(time, every)), max(map(time, every))
    room = (high / low * 10) ** 0.06
    panel.set_xlim(low / room, high * room**5)
    for place, rung in enumerate(shown):
        for row in rung.rows:
            look = style.look(row.case.kind)
            ends = (row.low or time(row), row.high or time(row))
            panel.plot(ends, [place, place], color=look.colour, alpha=0.5)
            panel.plot(time(row), place, **look.mark)
        text = f"{seconds(rung.time)}, {plain(shown[0].time / rung.time)} x"
        style.beside(panel, time(rung.rows[-1]), place, text)
    panel.set_yticks(range(len(shown)), [rung.method for rung in shown])
    panel.set_ylim(len(shown) - 0.4, -0.6)
    style.log_axis(panel.xaxis, style.time_text)
    panel.set_xlabel("time of one compute (log)")
    style.legend(panel, style.model_marks(row.case for row in every))
    return style.finish(figure, title, provenance(cases_of(every)))
