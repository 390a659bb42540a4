# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When each device does what, of one traced compute: whether copies and kernels overlap."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from ..bounds import COPIES
from ..case import Event
from ..findings import Findings
from ..rows import Row
from ..selection import variant
from ..units import seconds
from .bars import best
from .figure import (
    Figure,
    by,
    cases_of,
    largest_problems,
    lowest_ranked,
    problem_here,
    problem_title,
    provenance,
    weight,
    whole,
)
from .stages import colour_of, order

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MANY = 1200  # events of one figure; more are drawn as the blocks that they fill
VARIANTS = 6
KINDS = {"host": "CPU", "gpu": "GPU"}


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each of the largest problems of several devices, or of copies beside kernels."""
    traced = [row for row in rows if worth(row)]
    groups = list(by(traced, problem_here).values())
    for group in telling(groups):
        shown = best(group)[:VARIANTS]
        title = f"Timelines: {problem_title(group[0])}"
        yield Figure(
            kind="timelines",
            algorithm=group[0].case.algorithm,
            title=title,
            caption=caption(shown),
            cases=cases_of(shown),
            draw=partial(draw, shown, title),
            name=whole(title, group[0]),
        )


def caption(shown: list[Row]) -> str:
    """The caption; for one device without a sentence on overlap between devices."""
    if shown[0].case.devices == 1:
        return "One traced compute of each variant, on the clock of its device: which stage runs when, and for how long."
    busiest = max(shown, key=overlap)
    beside = any(event.queue for event in busiest.case.timeline)
    return (
        "One line per device, all on one clock: where bars of two devices stand above each other, they work at "
        f"the same time. In {variant(busiest.case)} the devices' work adds up to "
        f"{overlap(busiest):.2f} times the {seconds(span(busiest.case.timeline))} it takes. "
        + (
            "Below a device's kernels: what it communicates beside them. "
            if beside
            else ""
        )
        + "The clocks are tied by one mark, right to a few microseconds."
    )


def telling(groups: list[list[Row]]) -> list[list[Row]]:
    """Two an algorithm: several devices before one, copies before none, then the most devices and the largest. One
    device without copies is shown once at most, where there is nothing else.
    """

    def rank(group: list[Row]) -> tuple[float, ...]:
        case = group[0].case
        return case.devices == 1, not moves(group), -case.devices, -weight(case)

    def moves(group: list[Row]) -> bool:
        return any(map(copies, group))

    rich = [group for group in groups if group[0].case.devices > 1 or moves(group)]
    done = {group[0].case.algorithm for group in rich}
    plain = [group for group in groups if group[0].case.algorithm not in done]
    return lowest_ranked(rich, rank, count=2) + largest_problems(plain, count=1)


def copies(row: Row) -> bool:
    """Whether copies are part of its compute."""
    return bool({e.stage for e in row.case.timeline} & COPIES)


def worth(row: Row) -> bool:
    """Whether anything can overlap: several devices, copies, or stages."""
    stages = {event.stage for event in row.case.timeline}
    if row.case.devices > 1:  # on a host they run in turn
        return bool(stages) and row.case.device_kind == "gpu"
    return len(stages) > 1


def span(events: list[Event]) -> float:
    """From the first begin to the last end [s]."""
    return max(e.end_s for e in events) - min(e.begin_s for e in events)


def overlap(row: Row) -> float:
    """The time of all events together over the time that they take; 1: one at a time."""
    events = row.case.timeline
    return sum(e.end_s - e.begin_s for e in events) / (span(events) or 1.0)


def blocks(events: list[Event], shortest: float) -> list[tuple[float, float]]:
    """Begin and length of runs of one stage; gaps too short to be seen are closed."""
    found: list[list[float]] = []
    for event in sorted(events, key=lambda e: e.begin_s):
        if found and event.begin_s - found[-1][1] <= shortest:
            found[-1][1] = max(found[-1][1], event.end_s)
        else:
            found.append([event.begin_s, event.end_s])
    return [(begin, max(end - begin, shortest)) for begin, end in found]


def draw(rows: list[Row], title: str) -> Canvas:
    """One line per device, one group of lines per variant, on one axis of time."""
    from matplotlib.patches import Patch

    from . import style

    begins: dict[str, float] = {}
    for row in rows:
        zero = min(e.begin_s for e in row.case.timeline)
        for event in row.case.timeline:
            begins.setdefault(event.stage, event.begin_s - zero)
    names = order(list(begins), begins)
    longest = max(span(row.case.timeline) for row in rows)
    lines = sum(len({e.device for e in row.case.timeline}) + 0.6 for row in rows)
    figure, (panel,) = style.canvas(1.6 + 0.2 * lines)
    place, ticks = 0.0, {}
    for row in rows:
        devices = sorted({e.device for e in row.case.timeline})
        if len(devices) > 1:
            panel.text(0, place - 0.62, variant(row.case), fontsize=8)
        for device in devices:
            named = f"{KINDS[row.case.device_kind]} {device}"
            ticks[place] = named if len(devices) > 1 else variant(row.case)
            draw_line(panel, row, device, place, names, longest / MANY)
            place += 1
        place += 0.9 if len(devices) > 1 else 0.2
    panel.set_yticks(list(ticks), list(ticks.values()), fontsize=8)
    panel.set_ylim(place - 0.6, -1.2)
    panel.set_xlim(0, longest * 1.02)
    panel.grid(axis="y", visible=False)
    panel.set_xlabel(
        f"time since the first begin ({style.linear_time(panel.xaxis, longest)})"
    )
    handles = []
    for number, stage in enumerate(names):
        colour, hatch = colour_of(stage, number)
        handles.append(Patch(fc=colour, ec=style.PAPER, hatch=hatch, label=stage))
    style.legend(panel, handles)
    return style.finish(figure, title, provenance(cases_of(rows)))


def draw_line(
    panel: Axes, row: Row, device: int, place: float, names: list[str], shortest: float
) -> None:
    """The events of one device."""
    from . import style

    zero = min(e.begin_s for e in row.case.timeline)
    queues = {e.queue for e in row.case.timeline}
    for (number, stage), queue in product(enumerate(names), sorted(queues)):
        events = [
            Event(device, stage, e.begin_s - zero, e.end_s - zero)
            for e in row.case.timeline
            if (e.device, e.stage, e.queue) == (device, stage, queue)
        ]
        colour, hatch = colour_of(stage, number)
        low, high = (place - 0.4, place + 0.4)
        if len(queues) > 1:  # communication below the kernels that it runs beside
            low, high = (low, place + 0.1) if queue == 0 else (place + 0.15, high)
        bars: style.Properties = {
            "facecolor": colour,
            "hatch": hatch,
            "edgecolor": style.PAPER,
        }
        panel.broken_barh(
            blocks(events, shortest), (low, high - low), linewidth=0, **bars
        )
