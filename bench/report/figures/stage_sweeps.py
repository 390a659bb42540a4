# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stages of a compute against size: which operation grows to dominate."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..findings import Findings
from ..problems import pairs
from ..rows import Row
from ..selection import fastest, measured, place, text_of
from ..statistics import median
from ..units import exact
from .figure import Figure, cases_of, device_text, provenance
from .stages import FIRST, LAST

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MIN_POINTS, MAX_FIGURES = 3, 2
Work = tuple[str, tuple[object, ...]]  # the size that varies, and all that does not


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each variant whose compute has several stages, over three sizes or more."""
    groups: dict[Work, dict[int, list[Row]]] = {}
    for row in measured(rows):
        case = row.case
        inner = [stage for stage in case.stages if stage not in FIRST + LAST]
        if case.devices > 1 or len(inner) < 2:
            continue
        for size, value in case.sizes.items():
            fixed = (text_of(case.sizes, size), text_of(case.parameters))
            what = (case.algorithm, case.problem_name, case.way, case.dtype)
            key = (size, (*what, *fixed, *place(case)))
            groups.setdefault(key, {}).setdefault(value, []).append(row)
    several = {k: v for k, v in groups.items() if len(v) >= MIN_POINTS}
    methods: dict[Work, dict[str, list[Row]]] = {}
    for key, by_size in several.items():
        for value in sorted(by_size):
            models = dict.fromkeys(row.case.model for row in by_size[value])
            for model in models:
                own = fastest(row for row in by_size[value] if row.case.model == model)
                methods.setdefault(key, {}).setdefault(model, []).append(own)
    yield from limited(methods)


def limited(
    methods: dict[Work, dict[str, list[Row]]],
) -> Iterator[Figure]:
    """The figures, at most MAX_FIGURES of one algorithm and device."""
    drawn: dict[tuple[str, str], int] = {}
    richest = sorted(methods.items(), key=lambda item: -stages_in(item[1]))
    for (size, _), models in richest:
        full = {m: points for m, points in models.items() if len(points) >= MIN_POINTS}
        if not full:
            continue
        first = next(iter(full.values()))
        case = first[0].case
        where = (case.algorithm, case.device_name)
        drawn[where] = drawn.get(where, 0) + 1
        if drawn[where] > MAX_FIGURES:
            continue
        fixed = {k: v for k, v in case.sizes.items() if k != size}
        what = f"Stages against size: {case.algorithm} {case.way} {case.dtype}"
        title = f"{what} {pairs(fixed)}".rstrip() + f", {device_text(case)}"
        last = max(
            (points[-1] for points in full.values()),
            key=lambda row: row.case.sizes[size],
        )
        inside = inner_times(last)
        name = max(inside, key=lambda stage: inside[stage])
        yield Figure(
            kind="stage-sweep",
            algorithm=case.algorithm,
            title=title,
            caption="The stages of one traced compute at each size, a line a stage, portable filled and solid, native hollow "
            f"and dashed. At {size} = {exact(last.case.sizes[size])} most of {last.case.model}'s time is in {name}.",
            cases=cases_of(row for points in full.values() for row in points),
            draw=partial(draw, size, full, title),
            name=f"{what} {pairs(fixed, str)}, {device_text(case)}",
        )


def stages_in(models: dict[str, list[Row]]) -> int:
    """How many stages there are to see."""
    return len(
        {n for rows in models.values() for row in rows for n in inner_times(row)}
    )


def inner_times(row: Row) -> dict[str, float]:
    """The stages inside the compute [s]."""
    stages = row.case.stages
    return {k: median(v) for k, v in stages.items() if k not in FIRST + LAST}


def draw(size: str, models: dict[str, list[Row]], title: str) -> Canvas:
    """Colour tells the stage, fill and line style the model."""
    from . import style

    figure, (panel,) = style.canvas(4.2)
    panel.set_xscale("log")
    panel.set_yscale("log")
    names = list(
        dict.fromkeys(
            n for rows in models.values() for r in rows for n in inner_times(r)
        )
    )
    for model, rows in models.items():
        look = style.look(rows[0].case.kind)
        for name in names:
            points = [(r.case.sizes[size], inner_times(r).get(name, 0.0)) for r in rows]
            points = [(n, time) for n, time in points if time > 0]
            colour = style.CYCLE[names.index(name) % len(style.CYCLE)]
            face = colour if look.filled else style.PAPER
            mark: style.Properties = {
                "marker": look.marker,
                "color": colour,
                "markerfacecolor": face,
            }
            panel.plot(
                *zip(*points), look.line, label=f"{name}, {model}", **mark
            ) if points else None
    style.log_axis(panel.xaxis, style.count_text)
    style.log_axis(panel.yaxis, style.time_text)
    panel.set_xlabel(f"{size} (log)")
    panel.set_ylabel("time of a stage (log)")
    style.legend(panel)
    return style.finish(
        figure, title, provenance(cases_of(r for rows in models.values() for r in rows))
    )
