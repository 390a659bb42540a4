# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The slices of a machine become one file of records, as those in bench/results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from ..report.case import Case
from ..report.decode import manifest
from ..report.fields import Broken
from ..report.manifest import some
from ..report.merge import load
from ..report.options import PACKED
from ..report.pack import write
from ..report.sources import FOLDERS, of, record_files
from .campaign import Campaign
from .errors import BadInput
from .progress import Part, Progress, progress

Kind = tuple[str, ...]
COLLECTED = f"{FOLDERS[0]}{PACKED}"


def devices_of(part: Part) -> Kind:
    """Names of the kinds of devices of a host: a CPU with its threads, GPUs."""
    devices = part.cases[0].context.devices
    return tuple(sorted({f"{kind} {name}" for kind, name, _ in devices}))


def build_of(part: Part) -> Kind:
    """Commit, preset, Kokkos, and the hash of the executable by the manifest of the run."""
    build, path = part.cases[0].context.build, part.folder / "records/run.json"
    try:
        program = manifest(of(path)).executable
        if not program:
            raise Broken("'executable' is missing")
    except Broken as error:
        raise BadInput(f"{path}: {error}; measure {part.folder} again") from error
    return (
        f"git {build.git}",
        build.preset,
        f"Kokkos {build.kokkos}",
        f"executable {program}",
    )


def require_one(what: str, kinds: Iterable[tuple[Part, Kind]]) -> None:
    """Raises BadInput where the parts are of several kinds, naming a folder of each."""
    first: dict[Kind, Part] = {}
    for part, kind in kinds:
        first.setdefault(kind, part)
    if len(first) > 1:
        each = "; ".join(
            f"{part.folder}: {', '.join(kind)}" for kind, part in first.items()
        )
        raise BadInput(
            f"records of {len(first)} {what} are never one table: {each}. Move all but one kind elsewhere, and measure those slices again"
        )


def launches_of(case: Case) -> int:
    """In how many launches of the program it was measured, or found to FAIL or be skipped.

    A repetition of another case (``null``) is skipped in launches that leave no memory for it.
    """
    return (
        len(case.launches)
        if case.status == "passed" and not case.null
        else len({c.launch_id for c in case.contexts})
    )


def short(plan: Campaign, cases: list[Case], launches: int) -> list[str]:
    """Rows and comparisons of fewer launches than the plan says, ``launches`` at most."""
    by_name: dict[str, list[Case]] = defaultdict(list)
    for case in cases:
        by_name[case.comparison].append(case)
    lines = []
    for study, of_study in plan.comparisons.items():
        for name, comparison in of_study.items():
            wanted = min(launches, comparison.launches)
            if name not in by_name:
                lines.append(f"0 of {wanted} launches: all of {name} ({study})")
            lines += [
                f"{launches_of(case)} of {wanted} launches: {case.name}"
                for case in by_name[name]
                if launches_of(case) < wanted
            ]
    return lines


def copy(found: list[Progress], output: Path) -> int:
    """Packs all records, all or none; returns how many."""
    texts = {
        f"{one.number:03}.{number}-{one.study}-{source.name}": source.text()
        for one in found
        for number, part in enumerate(one.parts)
        for source in record_files(part.folder)
    }
    output.mkdir(parents=True, exist_ok=True)
    try:
        write(output / COLLECTED, texts)
    except Broken as error:
        raise BadInput(str(error)) from error
    return len(texts)


def collect(
    folder: Path, plan: Campaign, output: Path, launches: int
) -> tuple[int, list[str]]:
    """Writes ``output/records.jsonl.xz``; returns how many records, and the names of FAILED rows.

    Raises BadInput, with nothing written: records in ``output``, of several builds or kinds of
    devices, records that cannot be read, rows of fewer launches than planned.
    """
    if any((output / name).exists() for name in (FOLDERS[0], COLLECTED)):
        raise BadInput(
            f"{output} holds records already: give another --output, or move them elsewhere"
        )
    found = [
        one
        for number in range(1, len(plan.slices) + 1)
        for one in progress(folder, plan, number)
    ]
    parts = [part for one in found for part in one.parts if part.cases]
    if not parts:
        raise BadInput(
            f"{folder}: nothing is recorded yet; `python3 -m bench.campaign run {folder}` does"
        )
    broken = [text for one in found for part in one.parts for text in part.problems]
    if broken:
        raise BadInput("; ".join(broken))
    require_one("builds", [(part, build_of(part)) for part in parts])
    require_one("kinds of devices", [(part, devices_of(part)) for part in parts])
    cases, _ = load(
        (part.folder for part in parts), pool=True
    )  # unfinished runs: their rows are counted
    if lines := short(plan, cases, launches):
        text = "\n  ".join(lines)
        raise BadInput(
            f"rows with fewer launches than the plan says; go on with `run`, or give fewer with --launches:\n  {text}"
        )
    failed = [case.name for case in cases if case.status == "failed"]
    return copy(found, output), failed


def failed_text(names: list[str]) -> str:
    """What is said of FAILED rows."""
    return f"{len(names)} FAILED rows among them: {some(names)}"
