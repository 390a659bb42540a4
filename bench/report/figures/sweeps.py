# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time against size, and the ratio of portable to native against size, below each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..kinds import NATIVE, PORTABLES
from ..problems import pairs
from ..rows import Row
from ..selection import engine, fastest, measured, place, text_of, time, variant
from ..sweeps import Sweep, statement
from .chains import chains, varying
from .figure import Figure, cases_of, device_text, provenance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Series = dict[tuple[str, str], list[tuple[int, Row]]]  # (method, model) -> points
OTHERS = 5  # libraries and peers in one figure, the fastest at the largest size


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each work that was swept over a size, with all its methods."""
    groups: dict[tuple[object, ...], list[Sweep]] = {}
    for sweep in [*found.sweeps, *chains(rows)]:
        groups.setdefault(work(sweep), []).append(sweep)
    for group in groups.values():
        case = group[0].points[0].portable.case
        lines = series(rows, group)
        names = grown(group[0])
        fixed = {k: v for k, v in case.sizes.items() if k not in names}
        words = [case.algorithm, case.problem_name, case.dtype]
        what = " ".join(filter(None, ["Time against size:", *words]))
        where = ", ".join(filter(None, [device_text(case), engine(case)]))
        title = f"{what} {pairs(fixed)}".rstrip() + f", {where}"
        cases = cases_of(row for points in lines.values() for _, row in points)
        yield Figure(
            kind="sweep",
            algorithm=case.algorithm,
            title=title,
            caption=caption(group),
            cases=cases,
            draw=partial(draw, group, lines, title),
            name=f"{what} {pairs(fixed, str)}, {device_text(case)}",
        )


def grown(sweep: Sweep) -> list[str]:
    """The sizes that vary: the one of the axis, and those that grow with it."""
    return varying([point.portable for point in sweep.points])


def work(sweep: Sweep) -> tuple[object, ...]:
    """Equal for sweeps of the same work by different methods."""
    case = sweep.points[0].portable.case
    names = grown(sweep)
    kept = {name: value for name, value in case.sizes.items() if name not in names}
    fixed = (*names, text_of(kept), text_of(case.parameters))
    what = (sweep.size, case.algorithm, case.problem_name, case.dtype)
    return (*what, *fixed, case.devices, *place(case))


def series(rows: list[Row], group: list[Sweep]) -> Series:
    """Every variant on the problems of the sweeps, at its fastest launch, by size."""
    size = group[0].size
    here = {
        point.portable.case.comparison: point.portable.case
        for s in group
        for point in s.points
    }
    found: dict[tuple[str, str], dict[int, list[Row]]] = {}
    for row in measured(rows):
        case = here.get(row.case.comparison)
        if case is not None and place(case) == place(row.case):
            points = found.setdefault((row.case.way, row.case.model), {})
            points.setdefault(row.case.sizes[size], []).append(row)
    lines = {
        key: sorted((n, fastest(some)) for n, some in points.items())
        for key, points in found.items()
    }
    return chosen(lines)


def chosen(lines: Series) -> Series:
    """Portable and native lines, and the fastest of the others; no single points."""
    kept = {key: points for key, points in lines.items() if len(points) > 1}
    others = [
        key
        for key, points in kept.items()
        if points[0][1].case.kind not in (*PORTABLES, NATIVE)
    ]
    others.sort(key=lambda key: (-kept[key][-1][0], time(kept[key][-1][1])))
    dropped = set(others[OTHERS:])
    return {key: points for key, points in kept.items() if key not in dropped}


def caption(group: list[Sweep]) -> str:
    """The caption: up to where launches dominate, and the crossover."""
    text = (
        "Flat on the left, where the launch is all; then straight, where the work is. Portable is filled and solid, native hollow "
        "and dashed; bands are 95 % intervals. Below, above the line at 1 portable is slower; dotted lines mark where it is level "
        "with native from."
    )
    told = [(sweep.points[0].portable.case, statement(sweep)) for sweep in group]
    found = [f"{variant(case)}: {one}." for case, one in told if one]
    return " ".join([text, *found])


def crossing(sweep: Sweep) -> float | None:
    """The size from which on portable is level with native; None where there is none."""
    found = sweep.crossover
    return found.value if found and math.isfinite(found.value) else None


def hold(panel: Axes, values: list[float], room: float) -> None:
    """Limits around the medians: a band of few samples may be wider than all of them."""
    panel.set_ylim(min(values) / room, max(values) * room)


def draw(group: list[Sweep], lines: Series, title: str) -> Canvas:
    """Two panels on one logarithmic axis of sizes."""
    from . import style

    figure, (upper, lower) = style.canvas(
        5.6, rows=2, sharex=True, gridspec_kw={"height_ratios": (3, 2)}
    )
    for panel in (upper, lower):
        panel.set_xscale("log")
        panel.set_yscale("log")
    methods = list(dict.fromkeys(method for method, _ in lines))
    for (method, model), points in lines.items():
        draw_line(upper, points, f"{method} / {model}", methods.index(method))
    lower.axhline(1, color=style.INK, linewidth=1)
    for sweep in group:
        method = sweep.points[0].portable.case.way
        draw_ratio(lower, sweep, methods.index(method))
        level = crossing(sweep)
        if level is not None:
            colour = style.CYCLE[methods.index(method) % len(style.CYCLE)]
            for panel in (upper, lower):
                panel.axvline(level, linestyle=":", linewidth=1, color=colour)
    hold(upper, [time(row) for points in lines.values() for _, row in points], 2)
    ratios = [p.ratio.value for s in group for p in s.points if p.ratio]
    hold(lower, [1 / 1.2, 1.2, *ratios], 1.2)
    style.log_axis(upper.yaxis, style.time_text)
    style.ratio_axis(lower.yaxis)
    style.log_axis(lower.xaxis, style.count_text)
    upper.set_ylabel("time of one compute (log)")
    lower.set_ylabel("portable / native (log)")
    others = [name for name in grown(group[0]) if name != group[0].size]
    along = f", {' and '.join(others)} along with it" if others else ""
    lower.set_xlabel(f"{group[0].size}{along} (log)")
    style.legend(upper)
    under = provenance(row.case for points in lines.values() for _, row in points)
    return style.finish(figure, title, under)


def draw_line(
    panel: Axes, points: list[tuple[int, Row]], name: str, number: int
) -> None:
    """One variant with the band of its intervals."""
    from . import style

    look = style.look(points[0][1].case.kind)
    colour = style.CYCLE[number % len(style.CYCLE)]
    sizes = [size for size, _ in points]
    marked = max(
        1, len(points) // 12
    )  # a mark on each of a hundred points hides the line
    panel.plot(
        sizes,
        [time(row) for _, row in points],
        look.line,
        marker=look.marker,
        markevery=marked,
        color=colour,
        markerfacecolor=colour if look.filled else style.PAPER,
        label=name,
    )
    lows = [row.low or time(row) for _, row in points]
    highs = [row.high or time(row) for _, row in points]
    panel.fill_between(sizes, lows, highs, color=colour, alpha=0.13, linewidth=0)


def draw_ratio(panel: Axes, sweep: Sweep, number: int) -> None:
    """Portable over native with its band."""
    from . import style

    points = [(point.size, point.ratio) for point in sweep.points if point.ratio]
    if not points:
        return
    colour = style.CYCLE[number % len(style.CYCLE)]
    sizes = [size for size, _ in points]
    marked = max(1, len(points) // 12)
    look = style.look(sweep.points[0].portable.case.kind)
    values = [ratio.value for _, ratio in points]
    panel.plot(sizes, values, marker=look.marker, color=colour, markevery=marked)
    lows = [ratio.low or ratio.value for _, ratio in points]
    highs = [ratio.high or ratio.value for _, ratio in points]
    panel.fill_between(sizes, lows, highs, color=colour, alpha=0.13, linewidth=0)
