# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speed against lines: what each variant of a problem reaches, and how much source it takes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..lines import source_lines
from ..rows import Row
from ..selection import fastest, time, variant
from .figure import (
    Figure,
    by,
    cases_of,
    largest_problems,
    problem_here,
    problem_title,
    provenance,
    whole,
)
from .labels import names

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NAMED = 12  # the fastest


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each of the largest problems of which the lines of two variants or more are known."""
    groups = [
        group for group in by(rows, problem_here).values() if len(known(group)) > 1
    ]
    for group in largest_problems(groups):
        shown, best = known(group), fastest(group)
        title = f"Speed against lines: {problem_title(group[0])}"
        yield Figure(
            kind="lines",
            algorithm=group[0].case.algorithm,
            title=title,
            caption="Top left is better: fast with few lines. Each variant at its best launch; 1 is the best in this table, "
            f"{variant(best.case)}. Lines with machine code in any build, of which those that k variants share count 1/k for "
            "each. Of a library only the lines that call it count, and Python peers have none here.",
            cases=cases_of(shown),
            draw=partial(draw, shown, time(best), title),
            name=whole(title, group[0]),
        )


def known(rows: list[Row]) -> list[Row]:
    """Each variant whose lines are known, at its fastest."""
    variants: dict[str, list[Row]] = {}
    for row in rows:
        if source_lines(row.case):
            variants.setdefault(variant(row.case), []).append(row)
    return [fastest(some) for some in variants.values()]


def draw(rows: list[Row], best: float, title: str) -> Canvas:
    """A named mark for each variant, on logarithmic axes."""
    from . import style

    figure, (panel,) = style.canvas(4.2)
    panel.set_xscale("log")
    panel.set_yscale("log")
    marks = []
    for row in sorted(rows, key=time):
        place = (source_lines(row.case), best / time(row))
        marks.append((variant(row.case), *place))
        panel.plot(*place, **style.look(row.case.kind).mark)
    lines = [mark[1] for mark in marks]
    panel.set_xlim(min(lines) / 1.3, max(lines) * 2.5)
    panel.set_ylim(min(mark[2] for mark in marks) / 1.3, 1.5)
    names(panel, marks[:NAMED])
    style.log_axis(panel.xaxis, number)
    style.log_axis(panel.yaxis, number)
    panel.set_xlabel("source lines, shared ones apportioned (log)")
    panel.set_ylabel("speed over the best (log)")
    style.legend(panel, style.model_marks(cases_of(rows)))
    return style.finish(figure, title, provenance(cases_of(rows)))


def number(value: float, _: object = None) -> str:
    """``0.5`` for a tick."""
    return f"{value:g}"
