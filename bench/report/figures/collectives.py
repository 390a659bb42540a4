# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time and bus bandwidth of a collective against the bytes of a buffer, by engine.

Bus bandwidth as nccl-tests defines it: the bytes that a device sends at least over the
time. The line across is the peak of the links between the same devices (peaks.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..peaks import measured_ceilings
from ..rows import Row
from ..selection import fastest, measured, text_of, time
from ..units import exact, rate, seconds
from .figure import Figure, cases_of, device_text, provenance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

ALGORITHM = "collectives"
MIN_SIZES = 3
Line = list[tuple[int, Row]]  # bytes, ascending


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each collective, type and number of devices with enough sizes."""
    links = measured_ceilings(row.case for row in rows)
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in measured(rows):
        case = row.case
        if case.algorithm == ALGORITHM and case.bytes > 0:
            where = (case.device_kind, case.device_name, case.devices, case.metric)
            what = (case.method, case.dtype, text_of(case.parameters))
            groups.setdefault((*what, *where, case.context.build), []).append(row)
    for group in groups.values():
        lines = lines_of(group)
        if not lines:
            continue
        case = group[0].case
        ceilings = links.get((case.device_kind, case.device_name))
        link = ceilings.links.get(case.devices, 0.0) if ceilings else 0.0
        devices = device_text(case)
        title = f"{case.method} against bytes: {case.dtype}, {devices}"
        if case.parameters.get("order", "any") != "any":
            title += f", {case.parameters['order']}"
        yield Figure(
            kind="collectives",
            algorithm=ALGORITHM,
            title=title,
            caption=caption(lines, link, case.device_kind == "gpu"),
            cases=cases_of(row for line in lines.values() for _, row in line),
            draw=partial(draw, lines, link, title),
        )


def lines_of(rows: list[Row]) -> dict[str, Line]:
    """Engine and execution, as ``nccl, graph`` -> the fastest row of each size."""
    found: dict[str, dict[int, list[Row]]] = {}
    for row in rows:
        case = row.case
        name = ", ".join(filter(None, [case.communicator, case.execution]))
        points = found.setdefault(name, {})
        points.setdefault(case.sizes["bytes"], []).append(row)
    lines = {
        name: sorted((size, fastest(some)) for size, some in points.items())
        for name, points in found.items()
    }
    return {name: line for name, line in lines.items() if len(line) >= MIN_SIZES}


def bandwidth(row: Row) -> float:
    """Bus bandwidth [bytes/s]."""
    return row.case.bytes / time(row)


def caption(lines: dict[str, Line], link: float, on_gpus: bool) -> str:
    """The caption: the fastest engine at either end."""
    quickest = min(lines, key=lambda name: time(lines[name][0][1]))
    size, row = lines[quickest][0]
    widest = max(lines, key=lambda name: max(bandwidth(row) for _, row in lines[name]))
    best = max(bandwidth(row) for _, row in lines[widest])
    if link:
        bound = f"The line is the best of exchange, or of a collective that was faster, between these devices: {rate(link * 1e-9, 'GB/s')}."
    elif on_gpus:
        bound = "The links were not measured: that takes rows of exchange."
    else:
        bound = "Host devices share one memory: they have no links."
    return (
        "Flat on the left, where starting is all; on the right bytes are. Bus bandwidth is what a device sends at least "
        f"over the time. {quickest} is the quickest at {exact(size)} bytes with {seconds(time(row))}; {widest} reaches "
        f"{rate(best * 1e-9, 'GB/s')}. {bound}"
    )


def draw(lines: dict[str, Line], link: float, title: str) -> Canvas:
    """Two panels on one logarithmic axis of bytes."""
    from . import style

    figure, (upper, lower) = style.canvas(5.6, rows=2, sharex=True)
    for panel in (upper, lower):
        panel.set_xscale("log")
        panel.set_yscale("log")
    engines = list(
        dict.fromkeys(line[0][1].case.communicator for line in lines.values())
    )
    for name, line in lines.items():
        case = line[0][1].case
        number = engines.index(case.communicator)
        draw_line(upper, lower, line, name, number, case.execution == "stream")
    if link:
        lower.axhline(link * 1e-9, color=style.INK, linewidth=1, linestyle=":")
    style.log_axis(upper.yaxis, style.time_text)
    style.log_axis(lower.yaxis)
    style.log_axis(lower.xaxis, style.count_text)
    upper.set_ylabel("time of one collective (log)")
    lower.set_ylabel("bus bandwidth (GB/s, log)")
    lower.set_xlabel("bytes of a buffer (log)")
    style.legend(upper)
    under = provenance(row.case for line in lines.values() for _, row in line)
    return style.finish(figure, title, under)


def draw_line(
    upper: Axes, lower: Axes, line: Line, name: str, number: int, launched: bool
) -> None:
    """One engine: launched one by one hollow and dashed, in a graph filled and solid."""
    from . import style

    colour = style.CYCLE[number % len(style.CYCLE)]
    look: style.Properties = {
        "color": colour,
        "marker": style.MARKERS[number % len(style.MARKERS)],
        "linestyle": "--" if launched else "-",
        "markerfacecolor": style.PAPER if launched else colour,
    }
    sizes = [size for size, _ in line]
    upper.plot(sizes, [time(row) for _, row in line], label=name, **look)
    lows = [row.low or time(row) for _, row in line]
    highs = [row.high or time(row) for _, row in line]
    upper.fill_between(sizes, lows, highs, color=colour, alpha=0.13, linewidth=0)
    lower.plot(sizes, [bandwidth(row) * 1e-9 for _, row in line], **look)
