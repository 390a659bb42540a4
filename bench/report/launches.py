# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launch maps: the time of a variant over team and vector (or league, or tile) sizes.

The regret of the automatic launch is t_automatic / t_best - 1, over the program launches
that both share. The best is the one that a search (``league tune``) confirmed; without
one it is the minimum over noisy launches, so that regrets within the margin of the
verdicts mean nothing. Candidates of a search and launches of a study make maps of their
own: they differ in samples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from .case import Case
from .options import MARGIN
from .ratios import estimate, shared_launches
from .rows import Row
from .selection import automatic, devices_text, fastest, place, problem, time
from .statistics import Estimate

AXES = ("vector", "league", "tile")  # what may stand against the team size
MIN_CELLS = 3


@dataclass(frozen=True)
class LaunchMap:
    """The launches of one variant on one problem and device."""

    title: str
    algorithm: str
    method: str
    model: str
    device: str
    sizes: str
    axis: str  # the name of the second axis: vector, league or tile
    cells: dict[tuple[int, int], Row]  # (team, second axis) -> its fastest row
    automatic: Row | None  # launch chosen by the method
    best: Row
    tried: int  # launches measured, of which several may share a cell
    regret: Estimate | None  # t_automatic / t_best - 1


def maps(rows: list[Row]) -> list[LaunchMap]:
    """One map for each variant, problem and device with three launches or more."""
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        case = row.case
        if row.median is not None and not case.null:
            variant = (case.method_text, case.model, case.tuning)
            groups[(problem(case), place(case), variant)].append(row)
    found = [make_map(group) for group in groups.values() if len(group) > 1]
    return [one for one in found if len(one.cells) >= MIN_CELLS]


def cell_of(launch: dict[str, int], axis: str) -> tuple[int, int]:
    """Where a launch lies in a map with this second axis."""
    return launch.get("team", 0), launch.get(axis, 0)


def second_axis(launches: Iterable[dict[str, int]]) -> str:
    """What varies most beside the team size; the first of AXES where several do."""
    launches = list(launches)
    return max(AXES, key=lambda axis: len({one.get(axis, 0) for one in launches}))


def make_map(group: list[Row]) -> LaunchMap:
    """The map of the rows of one variant."""
    launches = [row.case.effective for row in group]
    axis = second_axis(launches)
    cells: dict[tuple[int, int], Row] = {}
    for row, launch in zip(group, launches):
        cell = cell_of(launch, axis)
        cells[cell] = min(cells.get(cell, row), row, key=time)
    # A search measured its best ones again: its choice, not the minimum of noisy samples.
    best = fastest([row for row in group if row.case.confirmed] or group)
    chosen = [row for row in group if automatic(row)]
    start = fastest(chosen) if chosen else None
    case = best.case
    texts = (case.algorithm, case.method_text, case.model, case.dtype, best.problem)
    return LaunchMap(
        title=" ".join(filter(None, texts)),
        algorithm=case.algorithm,
        method=case.method_text,
        model=case.model,
        device=devices_text(case),
        sizes=best.problem,
        axis=axis,
        cells=cells,
        automatic=start,
        best=best,
        tried=len(group),
        regret=regret(start.case, best.case) if start else None,
    )


def regret(start: Case, best: Case) -> Estimate:
    """What the automatic launch costs over the best one."""
    found = estimate(start, best, shared_launches(start, best))
    ends = [end - 1 if end is not None else None for end in (found.low, found.high)]
    return Estimate(found.value - 1, *ends)


def texts(found: list[LaunchMap], margin: float = MARGIN) -> list[str]:
    """The automatic launches that cost more than the margin, and how many do not."""
    known = [(one, one.regret) for one in found if one.regret is not None]
    judged = [(m, regret) for m, regret in known if regret.low is not None]
    dear = [(m, regret) for m, regret in judged if (regret.low or 0.0) > margin]
    lines, rest = [], len(known) - len(judged)
    if judged:
        good, share = len(judged) - len(dear), f"{100 * margin:g} %"
        text = f"launches: {good} of {len(judged)} automatic ones are not surely more"
        text += f" than {share} over the best of those tried"
        lines.append(text + (f" ({rest} without an interval left out)" if rest else ""))
    elif rest:
        lines.append(f"launches: {rest} automatic without an interval, not judged")
    for one, regret in dear:
        cost = f"{100 * regret.value:.1f} % over the best of {one.tried}"
        text = f"{one.title}, {one.device}: the automatic launch costs {cost}"
        lines.append(f"{text} ({one.best.case.effective_text})")
    return lines
