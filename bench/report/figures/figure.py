# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures: title, caption and data; drawn when written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ..builds import short
from ..case import Case
from ..rows import Row
from ..selection import devices_text, measured, work_title
from ..traffic import passes
from ..units import exact
from ..view import drawn_samples

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Key = TypeVar("Key")

MAX_FIGURES = 3  # figures of one kind and algorithm; the rest is in the table


@dataclass(frozen=True)
class Figure:
    """One figure. ``draw`` makes it with Matplotlib, which may be missing."""

    kind: str
    algorithm: str  # empty: of all
    title: str
    caption: str  # what to see
    cases: tuple[Case, ...]  # the data behind it
    draw: Callable[[], Canvas]
    name: str = ""  # of its files; empty: the title

    @property
    def slug(self) -> str:
        """The name of its files."""
        return slug(self.name or self.title)


def whole(title: str, row: Row) -> str:
    """A title with all sizes and parameters, for names of files, which are stable while titles get shorter."""
    return title.replace(row.problem, row.sizes) if row.problem else title


def slug(text: str) -> str:
    """Lower-case words joined by dashes: safe in a file name, an id and an address."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:120].rstrip("-")


def provenance(cases: Iterable[Case]) -> str:
    """The line under a figure: devices, samples, Kokkos version, commit."""
    cases = [case for case in cases if case.samples]
    names = dict.fromkeys(device_name(c.device_name) or c.device_kind for c in cases)
    builds = dict.fromkeys(case.context.build for case in cases)
    parts = [
        ", ".join(names),
        drawn_samples(cases),
        "Kokkos " + ", ".join(dict.fromkeys(b.kokkos for b in builds)),
        "commit " + ", ".join(dict.fromkeys(short(b.git) for b in builds)),
    ]
    return " | ".join(part for part in parts if part)


def problem(case: Case) -> tuple[object, ...]:
    """Equal for the cases that solve one problem, by one build."""
    return (case.comparison, case.context.build)


def problem_here(case: Case) -> tuple[object, ...]:
    """Equal for the cases that solve one problem on one kind of device, by one build."""
    return (*problem(case), case.device_kind, case.device_name)


def device_name(name: str) -> str:
    """Without trade marks."""
    return " ".join(re.sub(r"\((R|TM)\)", "", name).split())


def device_text(case: Case) -> str:
    """``4 x NVIDIA H200``, without trade marks."""
    return device_name(devices_text(case))


def problem_title(row: Row) -> str:
    """``knn f32 train=3,000 test=1,000, NVIDIA H200`` for the rows of one problem."""
    return f"{work_title(row)}, {device_text(row.case)}"


def by(rows: Iterable[Row], key: Callable[[Case], Key]) -> dict[Key, list[Row]]:
    """Rows with figures by a key of their cases, in their order; no null tests, no searches."""
    found: dict[Key, list[Row]] = {}
    for row in measured(list(rows)):
        found.setdefault(key(row.case), []).append(row)
    return found


def largest_problems(
    groups: Iterable[list[Row]], count: int = MAX_FIGURES
) -> list[list[Row]]:
    """The groups with the most to compute and to move, ``count`` per algorithm."""
    return lowest_ranked(groups, lambda rows: -weight(rows[0].case), count)


def lowest_ranked(
    groups: Iterable[list[Row]],
    rank: Callable[[list[Row]], float | tuple[float, ...]],
    count: int,
) -> list[list[Row]]:
    """The groups of lowest rank, ``count`` per algorithm."""
    kept: dict[str, list[list[Row]]] = {}
    for group in sorted(groups, key=rank):
        kept.setdefault(group[0].case.algorithm, []).append(group)
    return [group for found in kept.values() for group in found[:count]]


def weight(case: Case) -> float:
    """How heavy a problem is: its bytes, in each pass over its data, and its operations together."""
    return case.bytes * passes(case) + case.operations


def launch_text(case: Case) -> str:
    """``264 x 256 x 1``: teams, threads of a team, lanes of a thread, and the tile where there is one; else nothing."""
    return " x ".join(map(exact, case.effective.values()))


def cases_of(rows: Iterable[Row]) -> tuple[Case, ...]:
    """The cases of the rows."""
    return tuple(row.case for row in rows)
