# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time, speed-up and efficiency against the number of devices: predicted, measured, replayed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from bench.report.figures.figure import Figure, device_name, provenance
from bench.report.statistics import Estimate

from .output import CANNOT_TELL
from .series import Entry, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Replays = Mapping[tuple[str, int], Estimate]  # series and devices: seconds
PARTS = {
    "time": "time (log)",
    "speedup": "speed-up (log)",
    "efficiency": "efficiency",
}


def figures(found: Sequence[Series], replays: Replays) -> Iterator[Figure]:
    """One a problem, with all its variants and engines."""
    groups: dict[tuple[str, ...], list[Series]] = {}
    for one in found:
        case = one.base.case
        key = (one.kind, case.algorithm, case.dtype, one.sizes, case.device_name)
        where = case.comparison.split("/devices:")[0]
        groups.setdefault((*key, where), []).append(one)
    for (kind, algorithm, dtype, sizes, device, _), group in groups.items():
        what = f"{algorithm} {dtype} {sizes}, {device_name(device)}"
        title = f"{kind.capitalize()} scaling, predicted: {what}"
        yield Figure(
            kind="predicted",
            algorithm=algorithm,
            title=title,
            caption=caption(group),
            cases=tuple(one.base.case for one in group),
            draw=partial(draw, group, replays, title),
        )


def caption(group: Sequence[Series]) -> str:
    """The caption: what the figure shows, and what it cannot show."""
    return (
        "Lines are predictions, bands their 95 % intervals; filled points were fitted, "
        "hollow ones measured and not fitted, crosses replayed by SimGrid. Of "
        + "; of ".join(text.split(":")[0] for text in CANNOT_TELL[:3])
        + " it says nothing."
    )


def draw(group: Sequence[Series], replays: Replays, title: str) -> Canvas:
    """Three panels over one axis of devices."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    from bench.report.figures import style

    canvas, panels = style.canvas(6.8, rows=3, sharex=True)
    counts = [entry.predicted.place.devices for entry in group[0].entries]
    for panel, (part, label) in zip(panels, PARTS.items()):
        panel.set_xscale("log", base=2)
        if part != "efficiency":
            panel.set_yscale("log", base=10 if part == "time" else 2)
        panel.plot(
            counts, ideal(group, part, counts), ":", color=style.SOFT, label="ideal"
        )
        for number, one in enumerate(group):
            draw_series(panel, part, one, number, replays)
        panel.set_ylabel(label)
        panel.xaxis.set_major_locator(FixedLocator(counts))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    style.log_axis(panels[0].yaxis, style.time_text)
    panels[1].yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}x"))
    panels[2].yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:.0%}"))
    panels[2].set_ylim(0, 1.12)
    panels[-1].set_xlabel("devices (log)")
    style.legend(panels[0], columns=2)
    under = provenance(one.base.case for one in group)
    return style.finish(canvas, title, under)


def ideal(group: Sequence[Series], part: str, counts: Sequence[int]) -> list[float]:
    """The ideal line: the time of one device over the number of devices."""
    if part != "time":
        return [count if part == "speedup" else 1.0 for count in counts]
    start = min(one.start for one in group)
    strong = group[0].kind == "strong"
    return [start / count if strong else start for count in counts]


def as_part(one: Series, part: str, devices: int, time: float) -> float:
    """A time in the units of a panel."""
    share = 1 if one.kind == "strong" else 1 / devices
    if part == "time":
        return time
    return one.start / time / (share if part == "speedup" else share * devices)


def estimate(entry: Entry, part: str) -> Estimate:
    """The predicted value of a panel."""
    found: Estimate = getattr(entry if part != "time" else entry.predicted, part)
    return found


def draw_series(
    panel: Axes, part: str, one: Series, number: int, replays: Replays
) -> None:
    """Line and band, the measured points, the replayed ones."""
    from bench.report.figures import style

    colour = style.CYCLE[number % len(style.CYCLE)]
    marker = style.MARKERS[number % len(style.MARKERS)]
    counts = [entry.predicted.place.devices for entry in one.entries]
    found = [estimate(entry, part) for entry in one.entries]
    line = (":", "--", "-.", "-")[number % 4]
    label = f"{one.family.label.split(',')[0].split(' ', 1)[1]}, {one.family.engine}"
    panel.plot(counts, [f.value for f in found], line, color=colour, label=label)
    lows, highs = [f.low or f.value for f in found], [f.high or f.value for f in found]
    panel.fill_between(counts, lows, highs, color=colour, alpha=0.13, linewidth=0)
    for entry in one.entries:
        devices = entry.predicted.place.devices
        if entry.measured:
            value = as_part(one, part, devices, entry.measured.value)
            face = colour if entry.fitted else style.PAPER
            look: style.Properties = {"color": colour, "markerfacecolor": face}
            panel.plot([devices], [value], marker, **look)
        if (one.name, devices) in replays:
            time = replays[one.name, devices]
            ends = (time.value, time.low or time.value, time.high or time.value)
            value, *others = (as_part(one, part, devices, end) for end in ends)
            errors = [[value - min(others)], [max(others) - value]]
            crosses: style.Properties = {"color": colour, "capsize": 2}
            panel.errorbar([devices], [value], yerr=errors, fmt="x", **crosses)
    if number == 0 and any(name == one.name for name, _ in replays):
        panel.plot([], [], "x", color=style.SOFT, label="replayed by SimGrid")
