# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Folders of records become cases: program launches of one case are put together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from . import end_to_end, hosts, manifest, metrics
from .case import Case
from .decode import Outdated
from .fields import Broken
from .records import read_file
from .sources import Source, Store, stores


def load(
    directories: Iterable[Path], start: str = "", pool: bool = False
) -> tuple[list[Case], list[str]]:
    """Cases of all folders, merged, and the messages on what was left out; of files whose names start so.

    ``pool``: GPUs of one name on several hosts are one (hosts.py).
    """
    merged: dict[tuple[object, ...], Case] = {}
    problems: list[str] = []
    for directory in dict.fromkeys(Path(d).resolve() for d in directories):
        try:
            found = stores(directory, start)
        except Broken as error:
            problems.append(str(error))
            continue
        if not any(store.records for store in found):
            problems.append(f"{directory}: holds no records/*.json, packed or not")
        for store in found:
            problems += load_store(store, merged, pool)
    cases = list(merged.values())
    hosts.name_hosts(cases, pool)
    return cases, problems


def load_store(
    store: Store, merged: dict[tuple[object, ...], Case], pool: bool = False
) -> list[str]:
    """Merges the cases of one folder of records; returns what was left out and why."""
    folder, problems = manifest.Folder(store.manifest), []
    outdated: list[tuple[Source, Broken]] = []

    def key(case: Case) -> tuple[object, ...]:
        return (*identity(case), hosts.apart(case, pool))

    for file in store.records:
        try:
            cases = folder.belonging(file, read_whole(file))
            for case in cases:
                check_new(merged.get(key(case)), case)
        except Outdated as error:
            outdated.append((file, error))
            continue
        except Broken as error:
            problems.append(f"{file}: left out: {error}")
            continue
        for case in cases:
            known = merged.setdefault(key(case), case)
            if known is not case:
                merged[key(case)] = combine(known, case)
    if outdated:
        (first, why), *others = outdated
        more = f" and {len(others)} more" if others else ""
        return [f"{first}{more}: left out: {why}", *problems]
    return problems + folder.problems + folder.missing()


def read_whole(file: Source) -> list[Case]:
    """The cases of a file; raises Broken, which says what to do."""
    try:
        return read_file(file)
    except Outdated:
        raise
    except Broken as error:
        raise Broken(f"{error}; {file.advice}") from error


def identity(case: Case) -> tuple[object, ...]:
    """Equal for cases whose samples may be pooled on one host: same device model, same build."""
    device = (case.device_kind, case.device_name)
    return (case.comparison, case.name, case.tuning, *device, case.context.build)


def check_new(known: Case | None, case: Case) -> None:
    """Raises Broken where samples must not be pooled.

    A launch read twice would inflate the number of samples; launches that differ in problem,
    type or metric belong to different cases.
    """
    if known is None:
        return
    launch = case.context.launch_id
    if launch in known.launches and case.launches:
        raise Broken(f"launch {launch!r} of {case.name!r} was read already")
    keys = ["algorithm", "method", "execution", "model", "dtype"]
    keys += ["sizes", "parameters", "devices", "ranks", "nodes"]
    if known.launches and case.launches:
        keys += ["metric", "unit", "bytes", "operations", "launch_source"]
    for key in keys:
        pair = (getattr(known, key), getattr(case, key))
        if pair[0] != pair[1]:
            what = f"{pair[1]!r:.60}, in another launch {pair[0]!r:.60}"
            raise Broken(f"{case.name!r} has {key} {what}: launches of two cases")


def without_samples(case: Case) -> Case:
    """A failed case: its samples are of no result."""
    case.launches, case.latencies, case.stages = {}, [], {}
    case.metrics, case.timeline = {}, []
    case.energies, case.powers, case.end_to_end = {}, [], {}
    return case


def failed(case: Case, reason: str) -> Case:
    """The case, failed because it took less time than it can have taken."""
    return without_samples(
        replace(case, status="failed", reason=reason, impossible=True)
    )


def combine(first: Case, second: Case) -> Case:
    """One case of two: failed if either failed, else passed if either passed."""
    ranks = {"failed": 0, "passed": 1, "skipped": 2}
    best, other = sorted((first, second), key=lambda case: ranks[case.status])
    best.contexts = first.contexts + second.contexts
    if best.status == "failed":
        return without_samples(best)
    best.launches = {**best.launches, **other.launches}
    best.latencies = best.latencies + other.latencies
    for stage, times in other.stages.items():
        best.stages[stage] = best.stages.get(stage, []) + times
    metrics.combine(best, other)
    best.timeline = best.timeline or other.timeline
    best.kernels = best.kernels or other.kernels
    best.kernels_note = best.kernels_note or other.kernels_note
    best.energies = {**best.energies, **other.energies}
    best.energy_reason = best.energy_reason or other.energy_reason
    best.powers = best.powers + other.powers
    end_to_end.combine(best, other)
    if best.status != other.status and not best.reason:
        best.reason = f"skipped in another launch: {other.reason}"
    return best
