# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The README's picture: how many times slower than the best each tier is, one line a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ..gaps import Gap
from ..rows import Row
from ..selection import time
from ..writing import FLAT, ONCE, SPECIAL
from .figure import Figure, cases_of, provenance
from .overview import rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

TITLE = "Times slower than the best, one NVIDIA H200"
NATIVE = "native, same method"
NEAR = (0.9, 1.5)  # of the left panel


@dataclass(frozen=True)
class Mark:
    """How a tier is drawn, and which row of a problem it is."""

    tier: str
    colour: str  # its name in style.py
    marker: str
    size: float
    filled: bool
    row: Callable[[Gap], Row | None]


MARKS = (  # in the order in which they are drawn
    Mark(FLAT, "GREEN", "o", 4.5, True, lambda gap: gap.flat),
    Mark(ONCE, "BLUE", "o", 9.0, True, lambda gap: gap.once),
    Mark(SPECIAL, "ORANGE", "o", 9.0, False, lambda gap: gap.special),
    Mark(NATIVE, "INK", "|", 14.0, False, lambda gap: gap.native),
)


def figure(shown: list[tuple[str, Gap]]) -> Figure:
    """Of these problems, each with its title."""
    return Figure(
        kind="screen",
        algorithm="",
        title=TITLE,
        caption="Times slower than the best; at 1 is the best, left its neighbourhood. Large dot: Kokkos, written once. Small dot: flat Kokkos, "
        "without teams. Ring: specialised Kokkos. Bar: native CUDA of the same method.",
        cases=cases_of(row for _, gap in shown for row in rows_of(gap)),
        draw=partial(draw, shown),
    )


def places(shown: list[tuple[str, Gap]], mark: Mark) -> list[tuple[float, int]]:
    """Times slower than the best, and the line, of each problem that has such a row."""
    rows = [(mark.row(gap), gap.best, place) for place, (_, gap) in enumerate(shown)]
    return [(time(row) / time(best), place) for row, best, place in rows if row]


def draw(shown: list[tuple[str, Gap]]) -> Canvas:
    """A panel around 1, and one that shows all, logarithmic."""
    from . import style

    canvas, panels = style.canvas(1.5 + 0.3 * len(shown), 1, 9.6, 2, sharey=True)
    every = [value for mark in MARKS for value, _ in places(shown, mark)]
    near, far = panels
    far.set_xscale("log")
    near.set_xlim(*NEAR)
    far.set_xlim(0.8, max([2.0, *every]) * 1.4)
    style.log_axis(far.xaxis)
    for panel in panels:
        panel.axvline(1, color=style.INK, linewidth=1)
        panel.grid(axis="y", visible=False)
        for mark in MARKS:
            draw_marks(panel, mark, places(shown, mark))
    near.set_yticks(range(len(shown)), [title for title, _ in shown], fontsize=8)
    near.set_ylim(len(shown) - 0.4, -0.6)
    near.set_xlabel("times slower than the best")
    far.set_xlabel("the same, all of it (log)")
    style.legend(near, columns=4)
    under = provenance(row.case for _, gap in shown for row in rows_of(gap))
    return style.finish(canvas, TITLE, under)


def draw_marks(panel: Axes, mark: Mark, found: list[tuple[float, int]]) -> None:
    """All of a tier; the panel cuts off what is beyond it."""
    from . import style

    colour = getattr(style, mark.colour)
    panel.plot(
        [value for value, _ in found],
        [place for _, place in found],
        mark.marker,
        color=colour,
        markerfacecolor=colour if mark.filled else "none",
        markersize=mark.size,
        markeredgewidth=1.6,
        zorder=3 + MARKS.index(mark),
        label=mark.tier,
    )
