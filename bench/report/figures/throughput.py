# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Throughput of networks: images per second of every model, as bars."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..case import Case
from ..findings import Findings
from ..rows import Row
from ..selection import work_title
from ..units import plain
from .bars import MAX_BARS, Entry, entries
from .figure import Figure, by, cases_of, largest_problems, problem, provenance, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def images(case: Case) -> int:
    """Images of one compute: those of its steps of training, or all that it classifies; 0 where epochs end in tests."""
    if case.algorithm != "cnn":
        return 0
    parameters, train = case.parameters, int(case.sizes.get("train", 0))
    if parameters.get("task") == "inference":
        return int(case.sizes.get("test", 0))
    first = int(parameters.get("warm_up", 0))
    last = first + int(parameters.get("steps", 0))
    batch = min(int(parameters.get("batch", 0)), train)
    if batch < 1:
        return 0

    def before(step: int) -> int:
        """Images of all steps before this one: the last batch of an epoch may be smaller."""
        epochs, number = divmod(step, -(-train // batch))
        return epochs * train + number * batch

    return before(last) - before(first)


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each of the largest problems of a network on one device."""
    one = [row for row in rows if images(row.case) and row.case.devices == 1]
    groups = [group for group in by(one, problem).values() if len(group) > 1]
    for group in largest_problems(groups):
        shown, on_host = entries(group)
        shown = shown[:MAX_BARS]
        work = f"Images per second: {work_title(group[0])}"
        count = images(group[0].case)
        best = shown[0]
        yield Figure(
            kind="throughput",
            algorithm=group[0].case.algorithm,
            title=work,
            caption=f"Longer is faster. {best.name} reaches {plain(count / best.time)} images/s: {count:,} images of one compute over "
            "its time"
            + (
                " on the host's clock, as several are compared."
                if on_host
                else "; lines are 95 % intervals."
            ),
            cases=cases_of(entry.row for entry in shown),
            draw=partial(draw, shown, count, work),
            name=whole(work, group[0]),
        )


def draw(shown: list[Entry], count: int, title: str) -> Canvas:
    """Bars from zero, each with its interval and figure."""
    from . import style

    figure, (panel,) = style.canvas(1.5 + 0.24 * len(shown))
    for place, entry in enumerate(shown):
        rate = count / entry.time
        panel.barh(place, rate, 0.7, **style.look(entry.row.case.kind).bar)
        ends = [count / entry.high, count / entry.low]
        panel.plot(ends, [place, place], color=style.INK, alpha=0.5)
        style.beside(panel, rate, place, plain(rate))
    panel.set_xlim(0, 1.15 * count / shown[0].time)
    panel.set_yticks(range(len(shown)), [entry.name for entry in shown])
    panel.set_ylim(len(shown) - 0.4, -0.6)
    panel.xaxis.set_major_formatter(lambda value, _: plain(value))
    panel.set_xlabel("images/s")
    return style.finish(figure, title, provenance(e.row.case for e in shown))
