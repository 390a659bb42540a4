# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every model on one problem: the time of one compute, fastest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..rows import Row
from ..selection import host_clock, time, variant, work_title
from ..units import seconds
from .figure import (
    Figure,
    by,
    cases_of,
    heaviest,
    problem,
    provenance,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

FEWEST, TALLEST = 2, 28
HOST = "time of one compute on the host's clock, launch to fence (log)"


@dataclass(frozen=True)
class Entry:
    """One bar: times in seconds."""

    row: Row
    name: str
    time: float
    low: float
    high: float


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each of the heaviest problems that two variants or more solve."""
    one = [r for r in rows if r.case.algorithm != "ceilings" and r.case.devices == 1]
    groups = [
        group for group in by(one, problem).values() if len(best(group)) >= FEWEST
    ]
    for group in heaviest(groups):
        shown, on_host = entries(group)
        if len(shown) < FEWEST:
            continue
        first, last = shown[0], shown[min(len(shown), TALLEST) - 1]
        rest = f" The fastest {TALLEST} are shown." if len(shown) > TALLEST else ""
        shown = shown[:TALLEST]
        title = f"Every model: {work_title(group[0])}"
        yield Figure(
            kind="models",
            algorithm=group[0].case.algorithm,
            title=title,
            caption=f"Shorter is faster; the axis is logarithmic. {first.name} wins with {seconds(first.time)}; "
            f"{last.name} takes {last.time / first.time:.3g} times as long. Each variant at its fastest launch"
            + (
                ", on the host's clock as several are compared."
                if on_host
                else ", whiskers are 95 % intervals."
            )
            + rest,
            cases=cases_of(entry.row for entry in shown),
            draw=partial(draw, shown, title, on_host),
        )


def best(rows: list[Row]) -> list[Row]:
    """The fastest launch of each variant on each device, fastest first."""
    kept: dict[tuple[object, ...], Row] = {}
    for row in sorted(rows, key=time):
        case = row.case
        kept.setdefault((case.method_text, case.model, case.device_kind), row)
    return list(kept.values())


def entries(rows: list[Row]) -> tuple[list[Entry], bool]:
    """The bars, fastest first. Device time is never compared with another clock's."""
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
    """Horizontal bars on a logarithmic axis."""
    from . import style

    figure, (panel,) = style.canvas(1.5 + 0.23 * len(shown))
    least, most = min(e.low for e in shown), max(e.high for e in shown)
    panel.set_xscale("log")
    panel.set_xlim(least / 1.6, most * (most / least * 10) ** 0.22)
    for place, entry in enumerate(shown):
        look = style.look(entry.row.case.model)
        panel.barh(place, entry.time, height=0.66, linewidth=1.2, **look.bar)
        if entry.low < entry.high:
            ends = [[entry.time - entry.low], [entry.high - entry.time]]
            whisker: style.Properties = {
                "color": style.INK,
                "linewidth": 0.9,
                "capsize": 2,
            }
            panel.errorbar(entry.time, place, xerr=ends, fmt="none", **whisker)
        beside: style.Properties = {
            "xytext": (4, 0),
            "textcoords": "offset points",
            "va": "center",
        }
        panel.annotate(seconds(entry.time), (entry.high, place), fontsize=8, **beside)
    panel.set_yticks(range(len(shown)), [entry.name for entry in shown])
    panel.invert_yaxis()
    panel.grid(axis="y", visible=False)
    style.log_axis(panel.xaxis, style.time_text)
    panel.set_xlabel(HOST if on_host else "time of one compute (log)")
    style.legend(panel, style.model_patches(entry.row.case.model for entry in shown))
    return style.finish(figure, title, provenance(e.row.case for e in shown))
