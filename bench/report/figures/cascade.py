# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Portability cascade: the efficiency of each application, its platforms best to worst.

J. Sewall, S. J. Pennycook et al., Interpreting and Visualizing Performance Portability
Metrics (P3HPC 2020). Below three platforms it says nothing that the table does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..case import Case
from ..findings import Findings
from ..portability import Portability, of_one_vendor, platform
from ..rows import Row
from ..selection import measured, work_title
from .figure import Figure, device_name, provenance

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

MIN_PLATFORMS = 3


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each problem that was measured on three platforms or more."""
    groups: dict[str, list[Portability]] = {}
    for one in found.portability:
        if len(one.platforms) >= MIN_PLATFORMS:
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
            f"The set{of_one_vendor(group[0])}: {numbered(platforms)}.",
            cases=here,
            draw=partial(draw, group, title, here),
            name=f"Portability cascade: {group[0].whole}",
        )


def numbered(platforms: tuple[str, ...]) -> str:
    """``1 NVIDIA H200, 2 AMD MI300``."""
    return ", ".join(f"{i} {device_name(p)}" for i, p in enumerate(platforms, 1))


def behind(rows: list[Row], problem: str, platforms: set[str]) -> tuple[Case, ...]:
    """The cases of a problem on its platforms, one device each."""
    return tuple(
        row.case
        for row in measured(rows)
        if row.case.devices == 1
        and work_title(row) == problem
        and platform(row.case) in platforms
    )


def draw(group: list[Portability], title: str, cases: tuple[Case, ...]) -> Canvas:
    """Efficiencies from platform to platform; below, which platforms those are, and PP."""
    from . import style

    lines = 0.35 * len(group)
    heights = {"height_ratios": (3, lines)}
    figure, (upper, lower) = style.canvas(
        3.6 + lines * 0.6, rows=2, sharex=True, gridspec_kw=heights
    )
    platforms = group[0].platforms
    for number, one in enumerate(group):
        look = style.look(one.kind)
        colour = style.CYCLE[number % len(style.CYCLE)]
        marker = style.MARKERS[number % len(style.MARKERS)]
        mark: style.Properties = {
            "marker": marker,
            "color": colour,
            "label": one.application,
        }
        mark["markerfacecolor"] = colour if look.filled else style.PAPER
        found = one.application_efficiency.efficiencies
        names = sorted(found, key=lambda name: -found[name])
        places = range(1, len(names) + 1)
        upper.plot(places, [found[name] for name in names], look.line, **mark)
        for place, name in zip(places, names):
            text: style.Properties = {"ha": "center", "va": "center", "fontsize": 8.5}
            lower.text(place, number, str(platforms.index(name) + 1), **text)
    labels = [f"{g.application}, PP {g.application_efficiency.pp:.2f}" for g in group]
    lower.set_yticks(range(len(group)), labels)
    lower.set_ylim(len(group) - 0.4, -0.6)
    lower.grid(visible=False)
    lower.set_xticks(range(1, len(platforms) + 1))
    lower.set_xlabel("platforms (numbers in the rows), each application's best first")
    upper.set_ylim(0, 1.08)
    upper.set_xlim(0.7, len(platforms) + 0.3)
    upper.set_ylabel("application efficiency")
    style.legend(upper)
    return style.finish(figure, title, provenance(cases))
