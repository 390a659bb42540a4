# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is recorded of a slice: in ``DIR/slices/003/STUDY/HOST``, of each host what it measured.

``part.json`` there names the comparisons that the host was asked for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..report.case import Case
from ..report.fields import Broken
from ..report.merge import load_store
from ..report.sources import stores
from .campaign import SLICES, Campaign
from .errors import BadInput

PART = "part.json"
LEFT_OUT = ": left out: "  # a record that cannot be read, in a message of the report


@dataclass(frozen=True)
class Part:
    """What one host recorded of a slice of a study."""

    folder: Path
    wanted: list[str]  # comparisons
    cases: list[Case] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def done(self) -> set[str]:
        """The comparisons that are recorded: a record is whole or absent."""
        return {case.comparison for case in self.cases}


@dataclass(frozen=True)
class Progress:
    """What is recorded of a slice of a study, on all hosts."""

    number: int
    study: str
    wanted: list[str]
    parts: list[Part]

    @property
    def missing(self) -> list[str]:
        """The comparisons that no host has recorded."""
        done = {name for part in self.parts for name in part.done}
        return [name for name in self.wanted if name not in done]

    @property
    def failed(self) -> list[str]:
        """Names of FAILED rows."""
        cases = (case for part in self.parts for case in part.cases)
        return [case.name for case in cases if case.status == "failed"]


def folder_of(folder: Path, number: int, study: str) -> Path:
    """Where the hosts of a slice record a study."""
    return folder / SLICES / f"{number:03}" / study


def read_wanted(folder: Path) -> list[str]:
    """The comparisons that a host was asked for; raises BadInput."""
    try:
        content: Any = json.loads((folder / PART).read_text(encoding="utf-8"))
        return [str(name) for name in content["comparisons"]]
    except (OSError, KeyError, TypeError, ValueError) as error:
        text = f"{folder} holds no whole {PART} ({error})"
        raise BadInput(
            f"{text}: move the folder elsewhere; it is measured again"
        ) from error


def read_part(folder: Path) -> Part:
    """What a host recorded."""
    cases: dict[tuple[object, ...], Case] = {}
    try:
        found = stores(folder)
    except Broken as error:
        raise BadInput(str(error)) from error
    problems = [text for one in found for text in load_store(one, cases)]
    broken = [text for text in problems if LEFT_OUT in text]
    return Part(folder, read_wanted(folder), list(cases.values()), broken)


def progress(folder: Path, plan: Campaign, number: int) -> list[Progress]:
    """What is recorded of a slice, numbered from 1 on, by study."""
    found = []
    for study, wanted in plan.slices[number - 1].comparisons.items():
        place = folder_of(folder, number, study)
        hosts = sorted(one for one in place.glob("*") if one.is_dir())
        found.append(Progress(number, study, wanted, [read_part(p) for p in hosts]))
    return found


def text(found: list[Progress]) -> str:
    """``slice 3: 5 of 12 comparisons, missing: 'a', 'b'``, and what failed or cannot be read."""
    lines = []
    wanted = sum(len(one.wanted) for one in found)
    missing = [name for one in found for name in one.missing]
    state = f"{wanted - len(missing)} of {wanted} comparisons"
    if not missing:
        state = f"done, {wanted} comparisons"
    elif len(missing) == wanted:
        state = f"not begun, {wanted} comparisons"
    else:
        state += ", missing: " + ", ".join(missing)
    lines.append(f"slice {found[0].number}: {state}")
    lines += [f"  FAILED: {name}" for one in found for name in one.failed]
    lines += [f"  {p}" for one in found for part in one.parts for p in part.problems]
    return "\n".join(lines)
