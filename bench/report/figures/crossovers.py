# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CPU against GPU over one size, each with its best variant: from where on the GPU is faster."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..crossovers import DeviceCrossover, where
from ..findings import Findings
from ..rows import Row
from ..units import about, exact, seconds
from .figure import Figure, cases_of, device_name, provenance, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MIN_POINTS = 3


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each work that both kinds of device did at three sizes or more."""
    for one in found.device_crossovers + found.end_to_end:
        if len(one.points) < MIN_POINTS:
            continue
        title = f"CPU against GPU: {one.label}, {device_name(one.cpu)} and {device_name(one.gpu)}"
        yield Figure(
            kind="crossover",
            algorithm=one.algorithm,
            title=title,
            caption=caption(one),
            cases=cases_of(
                row for point in one.points for row in (point.cpu, point.gpu)
            ),
            draw=partial(draw, one, title),
            name=whole(title, one.points[0].gpu),
        )


def caption(one: DeviceCrossover) -> str:
    """The caption: from where on the GPU is faster."""
    last = one.points[-1]
    data = (
        "copies from and to the host included" if one.copied else "data already there"
    )
    return (
        f"The best variant of either device at each size, {data}, on the host's clock. The GPU is faster "
        f"{where(one)}; at {exact(last.size)} it takes {seconds(last.gpu_time)}, the CPU {seconds(last.cpu_time)}."
    )


def draw(one: DeviceCrossover, title: str) -> Canvas:
    """Two lines on logarithmic axes."""
    from . import style

    figure, (panel,) = style.canvas(3.8)
    panel.set_xscale("log")
    panel.set_yscale("log")
    sizes = [point.size for point in one.points]
    cpu, gpu = [p.cpu_time for p in one.points], [p.gpu_time for p in one.points]
    panel.plot(
        sizes, cpu, "--s", color=style.ORANGE, markerfacecolor=style.PAPER, label="CPU"
    )
    panel.plot(sizes, gpu, "-o", color=style.BLUE, label="GPU")
    if one.crossover:
        at = one.crossover
        if at.low and at.high:
            panel.axvspan(at.low, at.high, color=style.GRID, linewidth=0, alpha=0.6)
        label = f"crossover at about {about(at.value)}"
        panel.axvline(
            at.value, color=style.INK, linestyle=":", linewidth=1.2, label=label
        )
    style.log_axis(panel.xaxis, style.count_text)
    style.log_axis(panel.yaxis, style.time_text)
    panel.set_xlabel(f"{one.size} (log)")
    what = "time from host to host" if one.copied else "time of one compute"
    panel.set_ylabel(f"{what}, host's clock (log)")
    style.legend(panel)
    rows = [row for point in one.points for row in (point.cpu, point.gpu)]
    return style.finish(figure, title, provenance(cases_of(rows)))
