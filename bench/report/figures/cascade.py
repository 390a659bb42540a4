# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Portability cascade: the efficiency of each application, its platforms best to worst.

J. Sewall, S. J. Pennycook et al., Interpreting and Visualizing Performance Portability
Metrics (P3HPC 2020). Below three platforms it says nothing that the table does not.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case
from ..findings import Findings
from ..portability import Portability
from ..rows import Row
from ..selection import measured
from .figure import Figure, device_name, provenance

FEWEST = 3


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each problem that was measured on three platforms or more."""
    groups: dict[str, list[Portability]] = {}
    for one in found.portability:
        if len(one.platforms) >= FEWEST:
            groups.setdefault(one.problem, []).append(one)
    for problem, group in groups.items():
        platforms = group[0].platforms
        title = f"Portability cascade: {problem}"
        scores = ", ".join(
            f"{one.application} {one.application_efficiency.pp:.2f}" for one in group
        )
        algorithm = problem.split()[0]
        here = behind(rows, problem, set(platforms))
        yield Figure(
            kind="cascade",
            algorithm=algorithm,
            title=title,
            caption="Application efficiency (best time there over own time) of each application, its platforms sorted best "
            f"to worst: a line that ends early does not run on the rest. PP over the whole set: {scores}. "
            f"The set: {', '.join(map(device_name, platforms))}.",
            cases=here,
            draw=lambda group=group, title=title, here=here: draw(group, title, here),
        )


def behind(rows: list[Row], problem: str, platforms: set[str]) -> tuple[Case, ...]:
    """The cases of a problem on its platforms."""
    found = []
    for row in measured(rows):
        case = row.case
        name = " ".join(filter(None, [case.algorithm, case.dtype, row.sizes]))
        if name == problem and (case.device_name or case.device_kind) in platforms:
            found.append(case)
    return tuple(found)


def draw(group: list[Portability], title: str, cases):
    """Steps down from platform to platform, and PP as bars beside."""
    from matplotlib.figure import Figure as Canvas

    from . import style

    figure = Canvas(figsize=(style.WIDTH, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 1), sharey=True)
    for number, one in enumerate(group):
        look = style.look(one.application)
        colour = style.CYCLE[number % len(style.CYCLE)]
        marker = style.MARKERS[number % len(style.MARKERS)]
        values = sorted(one.application_efficiency.efficiencies.values(), reverse=True)
        mark = {"markerfacecolor": colour if look.filled else style.PAPER}
        places = range(1, len(values) + 1)
        left.plot(
            places,
            values,
            look.line,
            marker=marker,
            color=colour,
            label=one.application,
            **mark,
        )
        pp = one.application_efficiency.pp
        right.bar(
            number, pp, color=colour if look.filled else style.PAPER, edgecolor=colour
        )
        right.text(number, pp + 0.02, f"{pp:.2f}", ha="center", fontsize=7.5)
    left.set_ylim(0, 1.1)
    left.set_xticks(range(1, len(group[0].platforms) + 1))
    left.set_xlabel("platforms, each application's best first")
    left.set_ylabel("application efficiency")
    right.set_xticks(
        range(len(group)),
        [g.application for g in group],
        rotation=60,
        ha="right",
        fontsize=7.5,
    )
    right.set_xlabel("PP")
    right.grid(axis="x", visible=False)
    style.legend(left)
    return style.finish(figure, title, provenance(cases))
