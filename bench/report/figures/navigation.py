# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Navigation chart: performance portability against code convergence.

J. Sewall, S. J. Pennycook et al., Interpreting and Visualizing Performance Portability Metrics (P3HPC 2020);
S. J. Pennycook et al., Navigating Performance, Portability, and Productivity (doi:10.1109/MCSE.2021.3097276).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ..case import Case
from ..findings import Findings
from ..portability import Portability, of_one_vendor
from ..rows import Row
from .cascade import behind, numbered
from .figure import Figure, provenance

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each problem with an application whose lines are known on two platforms or more."""
    groups: dict[str, list[Portability]] = {}
    for one in found.portability:
        if one.convergence is not None:
            groups.setdefault(one.problem, []).append(one)
    for problem, group in groups.items():
        title = f"Navigation chart: {problem}"
        here = behind(rows, problem, set(group[0].platforms))
        yield Figure(
            kind="navigation",
            algorithm=problem.split()[0],
            title=title,
            caption="PP (0 where an application does not run on all of the set) against code convergence: the mean over pairs "
            "of platforms of the lines with machine code on both over those on either. Top right is portable and written "
            "once; since compilers keep different lines of one statement, one body on two of them is below 1. "
            f"The set{of_one_vendor(group[0])}: {numbered(group[0].platforms)}.",
            cases=here,
            draw=partial(draw, group, title, here),
            name=f"Navigation chart: {group[0].whole}",
        )


def draw(group: list[Portability], title: str, cases: tuple[Case, ...]) -> Canvas:
    """A mark for each application, with its name and both figures."""
    from . import style

    figure, (panel,) = style.canvas(4.2)
    for number, one in enumerate(group):
        if one.convergence is None:
            continue
        pp, look = one.application_efficiency.pp, style.look(one.kind)
        colour = style.CYCLE[number % len(style.CYCLE)]
        mark: style.Properties = {"color": colour, "linestyle": ""}
        mark["markerfacecolor"] = colour if look.filled else style.PAPER
        mark["marker"] = style.MARKERS[number % len(style.MARKERS)]
        label = f"{one.application}: convergence {one.convergence:.2f}, PP {pp:.2f}"
        panel.plot([one.convergence], [pp], label=label, **mark)
    panel.set_xlim(0, 1.05)
    panel.set_ylim(0, 1.05)
    panel.set_xlabel("code convergence")
    panel.set_ylabel("performance portability PP")
    style.legend(panel)
    return style.finish(figure, title, provenance(cases))
