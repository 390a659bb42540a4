# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory strategies: kernels and transfers of the same work under each of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..case import Case
from ..findings import Findings
from ..problems import pairs
from ..rows import Row
from ..statistics import median
from ..units import seconds
from .figure import Figure, by, cases_of, device_text, largest_problems, provenance

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

TRANSFERS = ("upload", "copy in", "prefetch", "copy out", "download")
USUAL = "device"
PARTS = ("kernels", "transfers")
ORDER = (USUAL, "unified", "unified_prefetch", "streamed")


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each work that was run under two memory strategies or more."""
    groups = by((row for row in rows if row.case.stages), work).values()
    several = [g for g in groups if len({strategy(row.case) for row in g}) > 1]
    for group in largest_problems(several):
        case = group[0].case
        what = f"Memory strategies: {case.algorithm} {case.way} {case.dtype}"
        title = f"{what} {pairs(case.sizes)}, {device_text(case)}"
        best = min(group, key=lambda row: sum(both(row.case)))
        yield Figure(
            kind="memory",
            algorithm=case.algorithm,
            title=title,
            caption="The same kernel under each way to bring the data to it: the time of its kernels and of its transfers. From the host "
            f"and back, {strategy(best.case)} / {best.case.model} is fastest with {seconds(sum(both(best.case)))}. Where the "
            "runtime moves pages, the transfers hide in the kernels.",
            cases=cases_of(group),
            draw=partial(draw, group, title),
            name=f"{what} {pairs(case.sizes, str)}, {device_text(case)}",
        )


def work(case: Case) -> tuple[object, ...]:
    """Equal for cases that differ in memory strategy and model only."""
    device = (case.device_kind, case.device_name, case.devices, case.context.build)
    sizes = tuple(case.sizes.items())
    what = (case.algorithm, case.way, case.dtype, sizes, case.launch)
    return (*what, "memory" in case.parameters, *device)


def strategy(case: Case) -> str:
    """Its parameter ``memory``."""
    return str(case.parameters.get("memory", USUAL))


def both(case: Case) -> tuple[float, float]:
    """Time [s] in kernels, and in transfers."""
    times = {name: median(found) for name, found in case.stages.items()}
    moving = sum(time for name, time in times.items() if name in TRANSFERS)
    return sum(times.values()) - moving, moving


def draw(rows: list[Row], title: str) -> Canvas:
    """Kernels and transfers of each strategy as dots on one logarithmic axis: they differ by orders of magnitude."""
    from . import style

    found = dict.fromkeys(strategy(row.case) for row in rows)
    names = sorted(found, key=lambda n: (ORDER.index(n) if n in ORDER else 9, n))
    kinds = {row.case.model: row.case.kind for row in rows}
    times = {(strategy(r.case), r.case.model): both(r.case) for r in rows}
    spots = {
        f"{name}, {part}, {model}": (kinds[model], times[name, model][number])
        for name in names
        for number, part in enumerate(PARTS)
        for model in kinds
        if (name, model) in times and times[name, model][number]
    }
    figure, (panel,) = style.canvas(1.4 + 0.24 * len(spots))
    panel.set_xscale("log")
    for place, (kind, value) in enumerate(spots.values()):
        panel.plot(value, place, **style.look(kind).mark)
        style.beside(panel, value, place, seconds(value))
    shown = [value for _, value in spots.values()]
    panel.set_xlim(min(shown) / 1.5, max(shown) * 3)
    panel.set_yticks(range(len(spots)), list(spots), fontsize=8)
    panel.set_ylim(len(spots) - 0.4, -0.6)
    style.log_axis(panel.xaxis, style.time_text)
    panel.set_xlabel("time (log)")
    return style.finish(figure, title, provenance(cases_of(rows)))
