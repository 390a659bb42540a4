# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launch heat maps: how fast each team size is with each vector, league or tile size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..launches import LaunchMap, cell_of
from ..options import MARGIN
from ..rows import Row
from ..selection import time
from .figure import Figure, cases_of, device_name, provenance, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D

MAX_FIGURES = 6  # maps of one algorithm
ON_CELL = "#1c1c1c"  # cells keep their colours in every theme
SLOW = "#fff3dc"
LABELS = {"vector": "vector length", "league": "league size (teams)"}


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each variant whose launches were swept."""
    drawn: dict[str, int] = {}
    for one in filter(tells, found.maps):
        drawn[one.algorithm] = drawn.get(one.algorithm, 0) + 1
        if drawn[one.algorithm] > MAX_FIGURES:
            continue
        searched = "Search" if one.best.case.tuning else "Launches"
        title = f"{searched}: {one.title}, {device_name(one.device)}"
        yield Figure(
            kind="launches",
            algorithm=one.algorithm,
            title=title,
            caption=caption(one),
            cases=cases_of(one.cells.values()),
            draw=partial(draw, one, title),
            name=whole(title, one.best),
        )


def tells(one: LaunchMap) -> bool:
    """Whether any launch is slower than the best by more than the margin; else all cells are 100."""
    slowest = max(map(time, one.cells.values()))
    return slowest > (1 + MARGIN) * time(one.best)


def caption(one: LaunchMap) -> str:
    """The caption: the cost of the automatic launch."""
    text = (
        "Each cell is the speed of one launch in per cent of the best; grey was not run or cannot run. "
        f"The square marks the best ({one.best.case.effective_text})"
    )
    if one.automatic is None:
        return text + "; no automatic launch was run."
    text += f", the circle the automatic launch ({one.automatic.case.effective_text})"
    return text + (
        f": it takes {100 * one.regret.value:.1f} % more time." if one.regret else "."
    )


def draw(one: LaunchMap, title: str) -> Canvas:
    """A grid; every cell has its number, so that no colour need be read."""
    from . import style

    teams = sorted({team for team, _ in one.cells})
    others = sorted({other for _, other in one.cells})
    figure, (panel,) = style.canvas(1.6 + 0.36 * len(others))
    panel.grid(visible=False)
    draw_cells(panel, one, teams, others)
    handles = draw_marks(panel, one, teams, others)
    panel.set_xticks(range(len(teams)), [str(team) for team in teams])
    panel.set_yticks(range(len(others)), [str(other) for other in others])
    panel.set_xlim(-0.6, len(teams) - 0.4)
    panel.set_ylim(-0.6, len(others) - 0.4)
    panel.set_xlabel("team size (threads)")
    panel.set_ylabel(LABELS.get(one.axis, one.axis))
    style.legend(panel, handles)
    under = provenance(cases_of(one.cells.values()))
    return style.finish(figure, f"{title} (% of the best)", under)


def draw_cells(
    panel: Axes, one: LaunchMap, teams: list[int], others: list[int]
) -> None:
    """A box for each pair of sizes, in the colour of its speed; grey where nothing was run."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Rectangle

    from . import style

    colours = [SLOW, style.ORANGE, style.RED]
    ramp = LinearSegmentedColormap.from_list("speed", colours)
    text: style.Properties = {"ha": "center", "va": "center", "fontsize": 8}
    for column, team in enumerate(teams):
        for line, other in enumerate(others):
            row = one.cells.get((team, other))
            share = time(one.best) / time(row) if row else 0.0
            face = ramp(1 - share) if row else style.GRID
            box = (column - 0.48, line - 0.46)
            panel.add_patch(Rectangle(box, 0.96, 0.92, facecolor=face, linewidth=0))
            if row:
                panel.text(column, line, f"{100 * share:.0f}", color=ON_CELL, **text)


def draw_marks(
    panel: Axes, one: LaunchMap, teams: list[int], others: list[int]
) -> list[Line2D]:
    """Rings around the best launch and the automatic one; returns their legend entries."""
    from matplotlib.lines import Line2D

    from . import style

    marks = [(one.best, "s", 17, "best")]
    if one.automatic is not None:
        marks.append((one.automatic, "o", 20, "automatic"))
    handles = []
    for row, marker, size, label in marks:
        team, other = cell_of(row.case.effective, one.axis)
        if team in teams and other in others:
            spot = (teams.index(team), others.index(other))
            ring: style.Properties = {"markerfacecolor": "none", "markeredgewidth": 1.6}
            ring["marker"] = marker
            panel.plot(*spot, markersize=size, color=ON_CELL, clip_on=False, **ring)
            handles.append(
                Line2D([], [], color=style.INK, label=label, linestyle="", **ring)
            )
    return handles
