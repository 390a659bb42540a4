# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time and energy of the variants of a problem: multiply-adds beside matrix units, portable beside native."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..rows import Row
from ..selection import fastest, time, variant
from ..units import ENERGIES, joules, seconds
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
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

LABELLED = 8  # the variants of least energy


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each problem of which two variants or more have energies."""
    groups = by((row for row in rows if row.energy), problem_here).values()
    for group in largest_problems(group for group in groups if len(group) > 1):
        title = f"Time and energy: {problem_title(group[0])}"
        yield Figure(
            kind="energy",
            algorithm=group[0].case.algorithm,
            title=title,
            caption=caption(group),
            cases=cases_of(group),
            draw=partial(draw, group, title),
            name=whole(title, group[0]),
        )


def energy(row: Row) -> float:
    """The median energy of one compute [J]. @pre the row has it"""
    assert row.energy is not None
    return row.energy


def on_units(row: Row) -> bool:
    """Whether the method computes on matrix units."""
    return row.case.unit.endswith(" tensor")


def caption(rows: list[Row]) -> str:
    """The caption: who is fastest, and who takes the least energy."""
    first, least = fastest(rows), min(rows, key=energy)
    text = (
        "Lower left is better; dotted lines are equal power. Large marks: on matrix units, small ones: on "
        f"multiply-adds. Fastest is {variant(first.case)} with {seconds(time(first))} and {joules(energy(first))}"
    )
    if least is first:
        return f"{text}, which is also the least energy."
    rest = (
        f"{variant(least.case)} with {joules(energy(least))} in {seconds(time(least))}"
    )
    return f"{text}; the least energy takes {rest}."


def draw(rows: list[Row], title: str) -> Canvas:
    """Dots with intervals on logarithmic axes, over lines of equal power."""
    from . import style

    figure, (panel,) = style.canvas(4.6)
    panel.set_xscale("log")
    panel.set_yscale("log")
    for row in sorted(rows, key=energy):
        look = style.look(row.case.kind)
        ends = (row.energy_low or energy(row), row.energy_high or energy(row))
        times = (row.low or time(row), row.high or time(row))
        panel.plot([time(row)] * 2, ends, color=look.colour, linewidth=1.0)
        panel.plot(times, [energy(row)] * 2, color=look.colour, linewidth=1.0)
        size = 9.0 if on_units(row) else 5.0
        panel.plot(time(row), energy(row), markersize=size, **look.mark)
    times_of, energies = [time(row) for row in rows], [energy(row) for row in rows]
    panel.set_xlim(min(times_of) / 1.3, max(times_of) * 3)
    panel.set_ylim(min(energies) / 1.5, max(energies) * 1.5)
    power_lines(panel)
    least = sorted(rows, key=energy)[:LABELLED]
    names(panel, [(variant(row.case), time(row), energy(row)) for row in least])
    style.log_axis(panel.xaxis, style.time_text)
    style.log_axis(panel.yaxis, joules_text)
    panel.set_xlabel("time of one compute (log)")
    panel.set_ylabel("energy of one compute (log)")
    style.legend(panel, style.model_marks(row.case for row in rows))
    return style.finish(figure, title, provenance(cases_of(rows)))


def joules_text(value: float, _: object = None) -> str:
    """``20 mJ`` for a tick."""
    size, unit = next((e for e in ENERGIES if value >= e[0] * (1 - 1e-9)), ENERGIES[-1])
    return f"{value / size:.4g} {unit}"


def power_lines(panel: Axes) -> None:
    """Where energy / time is 50, 100, 200 ... W, as far as the axes show it."""
    from . import style

    (left, right), (low, high) = panel.get_xlim(), panel.get_ylim()
    for watts in (20, 50, 100, 200, 500, 1000, 2000):
        ends = max(left, low / watts), min(right, high / watts)
        if ends[0] >= ends[1]:
            continue
        panel.plot(
            ends, [watts * end for end in ends], ":", color=style.GREY, linewidth=0.8
        )
        panel.annotate(
            f"{watts} W",
            (ends[0], watts * ends[0]),
            xytext=(2, 2),
            textcoords="offset points",
            color=style.SOFT,
            fontsize=7,
        )
