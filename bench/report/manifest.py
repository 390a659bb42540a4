# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Folders of records against the manifest of their run, ``run.json``.

The manifest names the run and all of its cases. A record of another run, a row that is
none of its cases and a comparison that was recorded twice do not belong there; a case
without a row says that the run is not finished. Folders without a manifest, or with one
from before runs had ids, may hold records of several launches: any record belongs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import decode
from .case import Case
from .fields import Broken
from .sources import Source

NAMED = 3  # cases that a message names; the rest is counted


@dataclass(frozen=True)
class Manifest:
    """The description of a run."""

    source: Source
    run_id: str
    cases: dict[str, None]  # in their order


def read_manifest(source: Source) -> Manifest | None:
    """None of one without the id of a run; raises Broken."""
    try:
        found = decode.manifest(source)
    except Broken as error:
        text = f"{source}: {error}; the records beside it are taken as they are"
        raise Broken(text) from error
    if not found.run_id:
        return None
    return Manifest(source, found.run_id, dict.fromkeys(found.cases))


def stem(name: str) -> str:
    """The name of a case without its launch: a search has rows of many launches."""
    return name.rpartition("/launch:")[0] or name


def some(names: Iterable[str]) -> str:
    """``'a', 'b', 'c' and 4 more``."""
    names = list(names)
    text = ", ".join(repr(name) for name in names[:NAMED])
    rest = len(names) - NAMED
    return f"{text} and {rest} more" if rest > 0 else text


class Folder:
    """The records of one folder, and which of them belong to its run."""

    def __init__(self, source: Source | None) -> None:
        self.problems: list[str] = []
        self.manifest: Manifest | None = None
        self.read: dict[str, Source] = {}  # comparisons, and where they are
        self.found: set[str] = set()
        try:
            self.manifest = read_manifest(source) if source else None
        except Broken as error:
            self.problems.append(str(error))

    def belonging(self, source: Source, cases: list[Case]) -> list[Case]:
        """The cases of this file that are of the run; raises Broken where none is."""
        manifest = self.manifest
        if manifest is None or not cases:
            return cases
        run_id, comparison = cases[0].context.run_id, cases[0].comparison
        if run_id != manifest.run_id:
            of = f"of run '{run_id}'" if run_id else "of a run without an id"
            beside = f"{manifest.source.name} beside it of run '{manifest.run_id}'"
            raise Broken(f"it is {of}, {beside}; move it to its own run")
        if comparison in self.read:
            other = self.read[comparison].name
            raise Broken(f"its comparison is in {other} too; keep one of the two")
        self.read[comparison] = source
        stems = {stem(name) for name in manifest.cases}
        known = [
            c
            for c in cases
            if c.name in manifest.cases or c.tuning and stem(c.name) in stems
        ]
        self.found |= {case.name for case in known}
        self.found |= {stem(case.name) for case in known if case.tuning}
        kept = set(map(id, known))
        strange = [case.name for case in cases if id(case) not in kept]
        if strange:
            text = f"rows left out that are no cases of {manifest.source.name}"
            self.problems.append(f"{source}: {text}: {some(strange)}; measure it again")
        return known

    def missing(self) -> list[str]:
        """The missing cases of the run, as a message; none where it is complete."""
        if self.manifest is None:
            return []
        cases = self.manifest.cases
        absent = [n for n in cases if n not in self.found and stem(n) not in self.found]
        if not absent:
            return []
        text = (
            f"the run is not finished: of its {len(cases)} cases {len(absent)} have no"
        )
        text += f" row that could be read: {some(absent)}; go on with --resume"
        return [f"{self.manifest.source}: {text}"]
