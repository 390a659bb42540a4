# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every model on one problem: the time of one compute, fastest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..options import MARGIN
from ..outcomes import agreement
from ..rows import Row
from ..selection import host_clock, time, variant, work_title
from ..units import plain, seconds
from .figure import (
    Figure,
    by,
    cases_of,
    device_text,
    largest_problems,
    launch_text,
    problem,
    provenance,
    whole,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MIN_BARS, MAX_BARS = 2, 28
HOST = "time of one compute on the host's clock, launch to fence (log)"


@dataclass(frozen=True)
class Entry:
    """One mark: times in seconds."""

    row: Row
    name: str
    time: float
    low: float
    high: float

    @property
    def text(self) -> str:
        """``31.57 ms, 264 x 256 x 1``: its time and launch."""
        return ", ".join(filter(None, [seconds(self.time), launch_text(self.row.case)]))


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each of the largest problems that two variants or more solve in times that differ."""
    one = [r for r in rows if r.case.algorithm != "ceilings" and r.case.devices == 1]
    groups = [group for group in by(one, problem).values() if differ(entries(group)[0])]
    for group in largest_problems(groups):
        shown, on_host = entries(group)
        rest = f" The fastest {MAX_BARS} are shown." if len(shown) > MAX_BARS else ""
        shown = shown[:MAX_BARS]
        first, last = shown[0], shown[-1]
        work = f"Every model: {work_title(group[0])}"
        devices = dict.fromkeys(device_text(entry.row.case) for entry in shown)
        title = f"{work}, {' and '.join(devices)}"
        yield Figure(
            kind="models",
            algorithm=group[0].case.algorithm,
            title=title,
            caption=f"Further left is faster; the axis is logarithmic. {first.name} wins with {seconds(first.time)}; "
            f"{last.name} takes {plain(last.time / first.time)} times as long. Each variant at its fastest launch (teams x threads x "
            "lanes, and the tile where there is one)"
            + (
                ", on the host's clock as several are compared."
                if on_host
                else "; whiskers are 95 % intervals."
            )
            + rest
            + agreement([entry.row for entry in shown]),
            cases=cases_of(entry.row for entry in shown),
            draw=partial(draw, shown, title, on_host),
            name=whole(work, group[0]),
        )


def differ(shown: list[Entry]) -> bool:
    """Whether there is anything to see: two variants whose times differ by more than the margin."""
    some = len(shown) >= MIN_BARS
    return some and shown[-1].time > (1 + MARGIN) * shown[0].time


def best(rows: list[Row]) -> list[Row]:
    """The fastest launch of each variant on each device, fastest first."""
    kept: dict[tuple[object, ...], Row] = {}
    for row in sorted(rows, key=time):
        case = row.case
        kept.setdefault((case.method_text, case.model, case.device_kind), row)
    return list(kept.values())


def entries(rows: list[Row]) -> tuple[list[Entry], bool]:
    """The marks, fastest first. Device time is never compared with another clock's."""
    shown = best(rows)
    on_host = len({row.case.metric for row in shown}) > 1
    found = []
    for row in shown:
        if not on_host:
            middle = time(row)
            ends = (row.low or middle, row.high or middle)
            found.append(Entry(row, name(row, shown), middle, *ends))
        elif known := host_clock(row):
            found.append(Entry(row, name(row, shown), known, known, known))
    return sorted(found, key=lambda entry: entry.time), on_host


def name(row: Row, rows: list[Row]) -> str:
    """``fused / kokkos``, and on what where several kinds of device are compared."""
    case = row.case
    kinds = {other.case.device_kind for other in rows}
    where = {"host": "CPU", "gpu": "GPU"}[case.device_kind]
    return variant(case) + (f", {where}" if len(kinds) > 1 else "")


def draw(shown: list[Entry], title: str, on_host: bool) -> Canvas:
    """Dots with intervals on a logarithmic axis: lengths would mean nothing there."""
    from . import style

    figure, (panel,) = style.canvas(1.5 + 0.21 * len(shown))
    low, high = min(e.low for e in shown), max(e.high for e in shown)
    panel.set_xscale("log")
    room = (high / low * 10) ** 0.06
    panel.set_xlim(low / room, high * room**8)
    for place, entry in enumerate(shown):
        look = style.look(entry.row.case.kind)
        panel.plot(
            [entry.low, entry.high], [place, place], color=look.colour, alpha=0.5
        )
        panel.plot(entry.time, place, **look.mark)
        style.beside(panel, entry.high, place, entry.text)
    panel.set_yticks(range(len(shown)), [entry.name for entry in shown])
    panel.set_ylim(len(shown) - 0.4, -0.6)
    style.log_axis(panel.xaxis, style.time_text)
    panel.set_xlabel(HOST if on_host else "time of one compute (log)")
    style.legend(panel, style.model_marks(entry.row.case for entry in shown))
    return style.finish(figure, title, provenance(e.row.case for e in shown))
