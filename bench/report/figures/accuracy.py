# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the check found beside its verdict: accuracies and losses, drawn where the variants differ in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..outcomes import LABELS, differing, spread, values
from ..rows import Row
from ..selection import work_title
from .bars import best, name
from .figure import Figure, by, cases_of, largest_problems, problem, provenance, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

TALLEST = 28


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for the largest problem of each algorithm whose variants differ in such figures."""
    told = [r for r in rows if r.case.devices == 1 and LABELS.keys() & r.case.figures]
    groups = [group for group in by(told, problem).values() if differing(group)]
    for group in largest_problems(groups, count=1):
        shown = best(group)[:TALLEST]
        names = differing(shown)
        if not names:
            continue
        title = f"Accuracy: {work_title(group[0])}"
        parts = [
            f"The {LABELS[key]} lies between {spread(key, shown)}." for key in names
        ]
        yield Figure(
            kind="accuracy",
            algorithm=group[0].case.algorithm,
            title=title,
            caption="Every variant passed its check; this is what it computed. "
            + " ".join(parts),
            cases=cases_of(shown),
            draw=partial(draw, shown, names, title),
            name=whole(title, group[0]),
        )


def draw(rows: list[Row], names: list[str], title: str) -> Canvas:
    """Dots, a panel a figure of the check."""
    from . import style

    height = 0.8 + len(names) * (0.75 + 0.19 * len(rows))
    figure, panels = style.canvas(height, rows=len(names))
    for panel, key in zip(panels, names):
        for number, row in enumerate(rows):
            if key in row.case.figures:
                look = style.look(row.case.kind)
                panel.plot(
                    row.case.figures[key],
                    number,
                    look.marker,
                    color=look.colour,
                    markerfacecolor=look.face,
                )
        found = values(key, rows)
        middle, half = (min(found) + max(found)) / 2, (max(found) - min(found)) / 2
        half = max(half * 1.3, abs(middle) * 1e-3, 1e-12)
        panel.set_xlim(middle - half, middle + half)
        panel.ticklabel_format(axis="x", useOffset=False)
        panel.locator_params(axis="x", nbins=6)
        panel.set_yticks(
            range(len(rows)), [name(row, rows) for row in rows], fontsize=8
        )
        panel.set_ylim(len(rows) - 0.4, -0.6)
        panel.set_xlabel(LABELS[key])
    return style.finish(figure, title, provenance(cases_of(rows)))
