# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory strategies: kernels and transfers of the same work under each of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..case import Case
from ..findings import Findings
from ..rows import Row
from ..statistics import median
from ..units import seconds
from .figure import Figure, by, cases_of, device_text, heaviest, provenance

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

TRANSFERS = ("upload", "copy in", "prefetch", "copy out", "download")
USUAL = "device"
ORDER = (USUAL, "unified", "unified_prefetch", "streamed")


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each work that was run under two memory strategies or more."""
    groups = by((row for row in rows if row.case.stages), work).values()
    several = [g for g in groups if len({strategy(row.case) for row in g}) > 1]
    for group in heaviest(several):
        case = group[0].case
        sizes = " ".join(f"{k}={v}" for k, v in case.sizes.items())
        what = f"{case.algorithm} {case.way} {case.dtype} {sizes}"
        title = f"Memory strategies: {what}, {device_text(case)}"
        best = min(group, key=lambda row: sum(both(row.case)))
        yield Figure(
            kind="memory",
            algorithm=case.algorithm,
            title=title,
            caption="The same kernel under each way to bring the data to it: kernels above, transfers below. From the host "
            f"and back, {strategy(best.case)} / {best.case.model} is fastest with {seconds(sum(both(best.case)))}. Where the "
            "runtime moves pages, the transfers hide in the kernels.",
            cases=cases_of(group),
            draw=partial(draw, group, title),
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
    """Two panels of grouped bars."""
    from . import style

    found = dict.fromkeys(strategy(row.case) for row in rows)
    names = sorted(found, key=lambda n: (ORDER.index(n) if n in ORDER else 9, n))
    models = list(dict.fromkeys(row.case.model for row in rows))
    figure, panels = style.canvas(4.8, rows=2, sharex=True)
    width = 0.8 / len(models)
    for panel, part, label in zip(panels, (0, 1), ("kernels", "transfers")):
        highest = max(both(row.case)[part] for row in rows) or 1e-9
        for row in rows:
            look = style.look(row.case.model)
            beside = models.index(row.case.model) - (len(models) - 1) / 2
            place = names.index(strategy(row.case)) + beside * width
            height = both(row.case)[part]
            panel.bar(place, height, width * 0.9, linewidth=1.2, **look.bar)
            text: style.Properties = {"ha": "center", "va": "bottom", "fontsize": 7.5}
            panel.text(
                place,
                height + highest * 0.02,
                seconds(height) if height else "0",
                **text,
            )
        panel.set_ylim(0, highest * 1.16)
        panel.set_ylabel(f"{label} ({style.linear_time(panel.yaxis, highest)})")
        panel.grid(axis="x", visible=False)
    panels[-1].set_xticks(range(len(names)), names)
    panels[-1].set_xlabel("memory strategy")
    style.legend(panels[0], style.model_patches(models))
    return style.finish(figure, title, provenance(cases_of(rows)))
