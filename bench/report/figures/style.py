# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One look for all figures: colours of Okabe and Ito, portable filled, native hollow.

Colours: M. Okabe and K. Ito, Color Universal Design (2008). Nothing is told by colour
alone: fill, hatch, marker and line style say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)
from matplotlib.transforms import blended_transform_factory

from ..case import Case
from ..kinds import (
    LIBRARY,
    NATIVE,
    PEER,
    PORTABLE,
    PORTABLE_LIBRARY,
    REFERENCE,
    SPECIALISED,
)
from ..units import SCALES, plain

INK, SOFT, GRID, PAPER = "#1a1f26", "#5b6470", "#d5dae1", "#fefefe"
BLUE, ORANGE, GREEN, RED = "#0072b2", "#e69f00", "#009e73", "#d55e00"
PURPLE, SKY, GREY = "#cc79a7", "#56b4e9", "#8a919c"
CYCLE = (BLUE, RED, GREEN, ORANGE, PURPLE, SKY, GREY, INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
WIDTH = 6.4  # inches
Properties = dict[str, Any]  # of an artist, by their Matplotlib names

matplotlib.rcdefaults()  # whatever a matplotlibrc says
matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",  # text stays text: it can be searched, selected and read aloud
        "svg.hashsalt": "league",  # the same figure gives the same file
        "font.family": "sans-serif",
        "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
        "font.size": 9.0,
        "axes.titlesize": 10.0,
        "axes.titlelocation": "left",
        "axes.edgecolor": SOFT,
        "axes.labelcolor": INK,
        "axes.facecolor": "none",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": GRID,
        "grid.linewidth": 0.6,
        "text.color": INK,
        "xtick.color": SOFT,
        "ytick.color": SOFT,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "figure.facecolor": "none",
        "legend.frameon": False,
        "legend.fontsize": 8.0,
        "hatch.linewidth": 0.8,
        "lines.linewidth": 1.4,
        "lines.markersize": 5.5,
    }
)


@dataclass(frozen=True)
class Look:
    """How a model is drawn."""

    colour: str
    marker: str
    filled: bool
    line: str = "-"
    hatch: str = ""

    @property
    def face(self) -> str:
        """The colour inside its markers."""
        return self.colour if self.filled else PAPER

    @property
    def mark(self) -> Properties:
        """Properties of a single mark."""
        colour = {"color": self.colour, "markerfacecolor": self.face}
        return {"marker": self.marker, "linestyle": "", **colour}

    @property
    def bar(self) -> Properties:
        """Properties of a bar."""
        return {"facecolor": self.face, "edgecolor": self.colour, "hatch": self.hatch}


LIBRARIES = Look(GREEN, "s", False, "-.", "////")
OTHERS = Look(PURPLE, "^", False, ":", "....")
LOOKS = {
    PORTABLE: Look(BLUE, "o", True),
    SPECIALISED: Look(BLUE, "p", True),
    NATIVE: Look(RED, "o", False, "--"),
    REFERENCE: Look(GREY, "D", False, ":"),
    LIBRARY: LIBRARIES,
    PORTABLE_LIBRARY: LIBRARIES,
}
LEGEND = {
    NATIVE: "native (cuda, hip, openmp)",
    REFERENCE: "one thread (serial)",
    LIBRARY: "library",
    PORTABLE_LIBRARY: "library",
    PEER: "Python",
}


def look(kind: str) -> Look:
    """Portable filled, native hollow, libraries hatched squares, peers hatched triangles."""
    return LOOKS.get(kind, OTHERS)


def legend_text(case: Case) -> str:
    """The kind of its model, as in the legend."""
    return LEGEND.get(case.kind, f"portable ({case.model})")


def canvas(
    height: float, rows: int = 1, width: float = WIDTH, columns: int = 1, **options: Any
) -> tuple[Canvas, list[Axes]]:
    """A figure with panels one under the other, or beside each other."""
    figure = Canvas(figsize=(width, height), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, [panel for row in panels for panel in row]


def finish(figure: Canvas, title: str, under: str) -> Canvas:
    """Title above, provenance below."""
    figure.suptitle(wrap(title, 66), x=0.01, ha="left", fontsize=10.5, weight="bold")
    figure.supxlabel(wrap(under, 104), x=0.01, ha="left", fontsize=7.5, color=SOFT)
    return figure


def legend(
    panel: Axes, handles: Sequence[Artist] | None = None, columns: int | None = None
) -> None:
    """Above the panel, so that it never covers data, from the left of the figure; as many columns as its texts leave room for."""
    handles = panel.get_legend_handles_labels()[0] if handles is None else handles
    if not handles:
        return
    longest = max(len(str(handle.get_label())) for handle in handles)
    per_row = columns or max(1, 84 // (longest + 7))
    assert panel.figure is not None
    panel.legend(
        handles=handles,
        ncols=min(per_row, len(handles)),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        bbox_transform=blended_transform_factory(
            panel.figure.transFigure, panel.transAxes
        ),
    )


def model_marks(cases: Iterable[Case]) -> list[Line2D]:
    """Legend entries for the kinds of models that are there, as marks."""
    looks = {legend_text(case): look(case.kind) for case in cases}
    return [Line2D([], [], label=label, **one.mark) for label, one in looks.items()]


def box() -> Properties:
    """The background of a text that may lie on a line."""
    return {"facecolor": PAPER, "edgecolor": "none", "pad": 0.8}


def held(
    panel: Axes, value: float, place: float, marker: str, look: Properties
) -> None:
    """A mark; for a value beyond the horizontal axis, an arrow at that end with the value."""
    low, high = panel.get_xlim()
    if low <= value <= high:
        panel.plot(value, place, marker, **look)
        return
    under = value < low
    end, side = (low, "left") if under else (high, "right")
    text = f"\u25c0 {plain(value)}" if under else f"{plain(value)} \u25b6"
    middle: Properties = {"ha": side, "va": "center", "fontsize": 8, "zorder": 4}
    panel.text(end, place, text, color=look["color"], bbox=box(), **middle)


def beside(panel: Axes, value: float, place: float, text: str) -> None:
    """A text to the right of a mark."""
    offset: Properties = {"xytext": (6, 0), "textcoords": "offset points"}
    panel.annotate(text, (value, place), fontsize=8, va="center", **offset)


def cut(panel: Axes, end: float, place: float, text: str) -> None:
    """The value of a bar that is cut at the right end of an axis, with an arrow."""
    right: Properties = {"ha": "right", "va": "center", "fontsize": 8, "zorder": 4}
    panel.text(end, place, f"{text} \u25b6", bbox=box(), **right)


def wrap(text: str, width: int) -> str:
    """Broken between words."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def time_text(value: float, _: object = None) -> str:
    """``100 us`` for a tick."""
    if value <= 0:
        return "0"
    size, unit = next((s for s in SCALES if value >= s[0] * (1 - 1e-9)), SCALES[-1])
    return f"{value / size:.4g} {unit}"


def count_text(value: float, _: object = None) -> str:
    """``1k``, ``50M``: decimal prefixes for sizes."""
    for size, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size * (1 - 1e-9):
            return f"{value / size:.4g}{prefix}"
    return f"{value:.4g}"


def rate_text(value: float, _: object = None) -> str:
    """Plain digits for a logarithmic axis of rates."""
    return count_text(value) if value >= 1e5 else f"{value:.4g}"


def log_axis(axis: Axis, text: Callable[[float], str] | None = None) -> None:
    """Decades with the given text; where there are few, 2 and 5 between them as well."""
    low, high = axis.get_view_interval()
    span = high / low if low > 0 else 1.0
    few = (1, 2, 5) if span < 300 else (1,)
    short = span < 8  # LogLocator finds one tick here, or fills in too many
    axis.set_major_locator(
        MaxNLocator(5) if short else LogLocator(10, subs=few, numticks=12)
    )
    if short:
        axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(text or rate_text))


def ratio_axis(axis: Axis) -> None:
    """Plain numbers around 1 on a logarithmic axis of ratios."""
    low, high = axis.get_view_interval()
    fine = high / low < 4
    steps = (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2) if fine else ()
    few = (
        [0.1, 0.2, 0.5, 1, 2, 5, 10]
        if high / low < 60
        else [10.0**n for n in range(-6, 7)]
    )
    ticks = [tick for tick in steps or few if low <= tick <= high]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))


def linear_time(axis: Axis, longest: float) -> str:
    """Ticks in one unit; returns the unit for the label."""
    size, unit = next((s for s in SCALES if longest >= s[0]), SCALES[-1])
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v / size:.4g}"))
    return unit
