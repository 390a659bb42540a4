# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the time of a case goes: set-up, upload, the stages of its compute, download."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..case import Case
from ..findings import Findings
from ..rows import Row, can_overlap
from ..statistics import median
from ..units import per_cent, seconds
from .bars import best, name
from .figure import (
    Figure,
    by,
    cases_of,
    largest_problems,
    problem_here,
    problem_title,
    provenance,
    whole,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

FIRST, LAST = ("setup", "upload", "copy in"), ("copy out", "download")
TALLEST = 14
GAP, ROOM = 3.0, 1.25
BEYOND = " Bars with an arrow go on to the time written there."
OVERLAPPING = " Copies that overlap with kernels are drawn before and after them here."


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each of the largest problems whose stages were recorded."""
    staged = [r for r in rows if r.case.stages and r.case.devices == 1]
    staged = [row for row in staged if row.case.algorithm != "ceilings"]
    for group in largest_problems(by(staged, problem_here).values()):
        shown = best(group)[:TALLEST]
        title = f"Stages: {problem_title(group[0])}"
        _, beyond = reach([sum(times(row.case).values()) for row in shown])
        longest = max(shown, key=lambda row: sum(times(row.case).values()))
        stage, share = largest(longest.case)
        yield Figure(
            kind="stages",
            algorithm=group[0].case.algorithm,
            title=title,
            caption="One traced run of each variant, from the host's inputs to the host's results. "
            f"In {name(longest, shown)}, the longest, {stage} takes {per_cent(share)} of the "
            f"{seconds(sum(times(longest.case).values()))}."
            + (OVERLAPPING if any(can_overlap(row.case) for row in shown) else "")
            + (BEYOND if beyond else ""),
            cases=cases_of(shown),
            draw=partial(draw, shown, title),
            name=whole(title, group[0]),
        )


def reach(totals: list[float]) -> tuple[float, bool]:
    """Where a linear axis ends, so that a few long bars do not flatten the others, and whether any goes beyond.

    It ends before the first gap, beyond a third of the bars, across which they grow more than threefold.
    """
    ordered = sorted(totals)
    for place in range(max(1, -(-len(ordered) // 3)), len(ordered)):
        if ordered[place] > GAP * ordered[place - 1]:
            return ROOM * ordered[place - 1], True
    return ordered[-1], False


def order(stages: list[str], begins: dict[str, float]) -> list[str]:
    """In the order in which they run, as far as the records tell."""

    def key(stage: str) -> tuple[object, ...]:
        if stage in FIRST:
            return (0, FIRST.index(stage))
        if stage in LAST:
            return (2, LAST.index(stage))
        return (1, begins.get(stage, 0.0), stage)

    return sorted(stages, key=key)


def times(case: Case) -> dict[str, float]:
    """The median time [s] of each stage, in order; a compute without stages is one of its own."""
    found = {stage: median(samples) for stage, samples in case.stages.items()}
    if set(found) <= {*FIRST, *LAST}:
        found["compute"] = median(case.samples)
    begins: dict[str, float] = {}
    for event in case.timeline:
        begins.setdefault(event.stage, event.begin_s)
    return {stage: found[stage] for stage in order(list(found), begins)}


def largest(case: Case) -> tuple[str, float]:
    """The longest stage and its share of all of them."""
    found = times(case)
    stage = max(found, key=lambda name: found[name])
    return stage, found[stage] / (sum(found.values()) or 1.0)


def all_stages(rows: list[Row]) -> list[str]:
    """The stages of all rows, each once, in order."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(times(row.case)))
    middle = [n for n in names if n not in FIRST and n not in LAST]
    ends = [[n for n in some if n in names] for some in (FIRST, LAST)]
    return [*ends[0], *middle, *ends[1]]


def draw(rows: list[Row], title: str) -> Canvas:
    """Stacked horizontal bars, linear in time."""
    from . import style

    names = all_stages(rows)
    figure, (panel,) = style.canvas(1.75 + 0.24 * len(rows))
    total, _ = reach([sum(times(row.case).values()) for row in rows])
    begins = [0.0] * len(rows)
    for place, stage in enumerate(names):
        widths = [times(row.case).get(stage, 0.0) for row in rows]
        colour, hatch = colour_of(stage, place)
        panel.barh(
            range(len(rows)),
            widths,
            left=begins,
            height=0.66,
            color=colour,
            hatch=hatch,
            edgecolor=style.PAPER,
            linewidth=0.5,
            label=stage,
        )
        begins = [begin + width for begin, width in zip(begins, widths)]
    for place, end in enumerate(begins):
        if end <= total:
            panel.text(end + total * 0.01, place, seconds(end), va="center", fontsize=8)
        else:
            style.cut(panel, total * 1.14, place, seconds(end))
    panel.set_yticks(range(len(rows)), [name(row, rows) for row in rows])
    panel.invert_yaxis()
    panel.grid(axis="y", visible=False)
    panel.set_xlim(0, total * 1.14)
    panel.set_xlabel(f"time ({style.linear_time(panel.xaxis, total)})")
    style.legend(panel)
    return style.finish(figure, title, provenance(cases_of(rows)))


def colour_of(stage: str, place: int) -> tuple[str, str]:
    """Transfers are grey and hatched, the stages of a compute have the colours in turn."""
    from . import style

    if stage in FIRST or stage in LAST:
        hatches = {"setup": "xxx", "upload": "\\\\\\", "copy in": "\\\\\\"}
        return style.GREY, hatches.get(stage, "///")
    colours = [c for c in style.CYCLE if c not in (style.GREY, style.INK)]
    return colours[place % len(colours)], "" if place < len(colours) else "..."
