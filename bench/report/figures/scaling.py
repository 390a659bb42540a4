# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time, speed-up and efficiency against the number of devices, or of threads."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..rows import Row
from ..scaling import Scaling, how_joined
from ..selection import variant
from ..units import per_cent
from .figure import Figure, cases_of, device_name, provenance, weight, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

MAX_FIGURES = 4  # problems of one algorithm


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each problem: strong and weak apart, all variants and engines together."""
    groups: dict[tuple[object, ...], list[Scaling]] = {}
    for scaling in found.scalings:
        case = scaling.points[0].row.case
        key = (
            scaling.algorithm,
            case.dtype,
            scaling.kind,
            scaling.over,
            scaling.sizes,
            scaling.device,
        )
        groups.setdefault((*key, case.context.build), []).append(scaling)
    drawn: dict[str, int] = {}
    largest_problems = sorted(
        groups.values(), key=lambda group: -weight(group[0].points[0].row.case)
    )
    for group in largest_problems:
        first = group[0]
        drawn[first.algorithm] = drawn.get(first.algorithm, 0) + 1
        if drawn[first.algorithm] > MAX_FIGURES:
            continue
        dtype = first.points[0].row.case.dtype
        what = f"{first.algorithm} {dtype} {first.sizes}, {device_name(first.device)}"
        over = " over threads" if first.over == "threads" else ""
        title = f"{first.kind.capitalize()} scaling{over}: {what}"
        yield Figure(
            kind="scaling",
            algorithm=first.algorithm,
            title=title,
            caption=caption(group),
            cases=cases_of(point.row for s in group for point in s.points),
            draw=partial(draw, group, title),
            name=whole(title, first.points[0].row),
        )


def name(scaling: Scaling) -> str:
    """``graph / cuda, nccl, 1 device per rank``: of its last point, since one device has no communicator."""
    last = scaling.points[-1].row.case
    return ", ".join(filter(None, [variant(last), how_joined(last)[1]]))


def caption(group: list[Scaling]) -> str:
    """The caption: the distance from the ideal line, and the variant nearest to it."""
    ends = [(scaling.points[-1], scaling) for scaling in group]
    largest = max(point.count for point, _ in ends)
    last = [(p.efficiency.value, name(s)) for p, s in ends if p.count == largest]
    best, worst = max(last), min(last)
    one = group[0].over.removesuffix("s")
    same = (
        "the same problem"
        if group[0].kind == "strong"
        else f"the same size a {one}, speed-up of all the work done"
    )
    text = (
        f"Makespan on the host's clock for {same}; the dotted line is ideal, bars are 95 % intervals. "
        f"On {largest} {group[0].over} {best[1]} keeps {per_cent(best[0])} efficiency"
    )
    return text + (
        f", {worst[1]} {per_cent(worst[0])}." if worst[1] != best[1] else "."
    )


def draw(group: list[Scaling], title: str) -> Canvas:
    """Three panels over one axis of devices or threads."""
    from . import style

    figure, panels = style.canvas(6.6, rows=3, sharex=True)
    counts = sorted({point.count for scaling in group for point in scaling.points})
    parts = ("time", "speedup", "efficiency")
    for panel, part in zip(panels, parts):
        panel.set_xscale("log", base=2)
        if part != "efficiency":
            panel.set_yscale("log")
        ideal(panel, part, group, counts)
        for number, scaling in enumerate(group):
            draw_line(panel, part, scaling, number, group)
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    style.log_axis(panels[0].yaxis, style.time_text)
    panels[1].yaxis.set_major_locator(FixedLocator(counts))
    panels[1].yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}x"))
    panels[2].yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{100 * v:.0f} %"))
    min_efficiency = min(p.efficiency.value for s in group for p in s.points)
    panels[2].set_ylim(
        min(0.5, min_efficiency - 0.05) if min_efficiency > 0.2 else 0, 1.08
    )
    for panel in panels:
        panel.xaxis.set_major_locator(FixedLocator(counts))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        panel.yaxis.set_minor_locator(NullLocator())
    for panel, label in zip(panels, ("time (log)", "speed-up (log)", "efficiency")):
        panel.set_ylabel(label)
    panels[-1].set_xlabel(f"{group[0].over} (log)")
    style.legend(panels[0])
    under = provenance(point.row.case for s in group for point in s.points)
    return style.finish(figure, title, under)


def ideal(panel: Axes, part: str, group: list[Scaling], counts: list[int]) -> None:
    """The dotted line: as fast as one device's work shared without loss."""
    from . import style

    strong = group[0].kind == "strong"
    start = min(scaling.points[0].time.value for scaling in group)
    shares: dict[str, list[float]] = {
        "time": [start / n if strong else start for n in counts],
        "speedup": [*counts],
        "efficiency": [1] * len(counts),
    }
    line: style.Properties = {"color": style.SOFT, "linewidth": 1, "zorder": 1}
    panel.plot(counts, shares[part], ":", label="ideal", **line)


def draw_line(
    panel: Axes, part: str, scaling: Scaling, number: int, group: list[Scaling]
) -> None:
    """One variant of the group; lines are set a little apart, so that equal ones are all seen."""
    from . import style

    look = style.look(scaling.points[0].row.case.kind)
    engine = {"": style.CYCLE[0], "nccl": style.CYCLE[2]}.get(
        scaling.communicator, style.PURPLE
    )
    colour = look.colour if not scaling.communicator else engine
    points = [(point.count, getattr(point, part)) for point in scaling.points]
    shift = 1.03 ** (number - (len(group) - 1) / 2)
    rank = list(dict.fromkeys(s.method for s in group)).index(scaling.method)
    own = style.MARKERS[rank] if rank else look.marker
    values = [found.value for _, found in points]
    errors = [
        [found.value - (found.low or found.value) for _, found in points],
        [(found.high or found.value) - found.value for _, found in points],
    ]
    panel.errorbar(
        [count * shift for count, _ in points],
        values,
        yerr=errors,
        linestyle=look.line,
        marker="D" if scaling.communicator else own,
        color=colour,
        markerfacecolor=colour if look.filled else style.PAPER,
        capsize=2,
        label=name(scaling),
    )
