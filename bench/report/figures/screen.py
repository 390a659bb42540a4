# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The README's picture: how many times slower than the best each tier is, one line a problem."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..gaps import Gap
from ..rows import Row
from ..selection import time
from ..units import exact
from .figure import Figure, cases_of, provenance
from .overview import rows_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

TITLE = "Times slower than the best, one NVIDIA H200"


def figure(shown: list[Gap]) -> Figure:
    """Of these problems."""
    return Figure(
        kind="screen",
        algorithm="",
        title=TITLE,
        caption="Times slower than the best of all (log); 1 is the best. Large dot: Kokkos, written once. Small dot: flat Kokkos, without teams. "
        "Ring: specialised Kokkos. Bar: native CUDA of the same method.",
        cases=cases_of(row for gap in shown for row in rows_of(gap)),
        draw=partial(draw, shown),
    )


def label(gap: Gap) -> str:
    """``knn, 52,500 x 17,500 x 784``."""
    return f"{gap.algorithm}, {' x '.join(map(exact, gap.row.case.sizes.values()))}"


def slower(row: Row | None, gap: Gap) -> list[float]:
    """Than the best of all; nothing where there is no such row."""
    return [time(row) / time(gap.best)] if row else []


def draw(shown: list[Gap]) -> Canvas:
    """Marks on one logarithmic axis."""
    from . import style

    canvas, [panel] = style.canvas(1.5 + 0.3 * len(shown), 1, 8.4)
    panel.set_xscale("log")
    panel.axvline(1, color=style.INK, linewidth=1)
    looks = {
        "written once": (style.BLUE, "o", 9.0, style.BLUE, 3),
        "flat": (style.GREEN, "o", 4.5, style.GREEN, 2),
        "specialised": (style.ORANGE, "o", 9.0, "none", 4),
        "native, same method": (style.INK, "|", 14.0, style.INK, 5),
    }
    for name, (colour, marker, size, face, order) in looks.items():
        marks = [
            (value, place)
            for place, gap in enumerate(shown)
            for value in slower(
                {
                    "written once": gap.once,
                    "flat": gap.flat,
                    "specialised": gap.special,
                }.get(name, gap.native),
                gap,
            )
        ]
        panel.plot(
            *zip(*marks) if marks else ([], []),
            marker,
            color=colour,
            markerfacecolor=face,
            markersize=size,
            markeredgewidth=1.6,
            zorder=order,
            label=name,
        )
    panel.set_yticks(range(len(shown)), map(label, shown), fontsize=8)
    panel.set_ylim(len(shown) - 0.4, -0.6)
    panel.grid(axis="y", visible=False)
    low, high = panel.get_xlim()
    panel.set_xlim(min(low, 0.9), high)
    style.log_axis(panel.xaxis)
    panel.set_xlabel("times slower than the best (log)")
    style.legend(panel, columns=4)
    return style.finish(
        canvas, TITLE, provenance(row.case for gap in shown for row in rows_of(gap))
    )
