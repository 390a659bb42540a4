# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published times of the cases of a run, as references."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median

from ..report import decode, merge, records, sources
from ..report.case import Case
from ..report.fields import Broken

PUBLISHED = Path(__file__).parents[1] / "results"
Key = tuple[str, str, str, str]


def timed(cases: Iterable[Case]) -> list[Case]:
    """Cases with a time, without null tests."""
    return [case for case in cases if case.status == "passed" and not case.null]


def key(case: Case) -> Key:
    """Equal for cases whose times are comparable between runs: same case, metric and device."""
    return (case.name, case.metric, case.device_kind, case.device_name)


def seconds(case: Case) -> float:
    """The median of all samples of all launches [s]."""
    return median(time for times in case.launches.values() for time in times)


def same_machine(folder: Path, devices: set[str]) -> bool:
    """Whether its first record names one of these devices: so the others need not be read."""
    try:
        files = sources.record_files(folder)
        context = (
            records.read_context(decode.record(files[0]), folder) if files else None
        )
    except Broken:
        return False
    return context is not None and any(
        name in devices for _, name, _ in context.devices
    )


def references(cases: list[Case], results: Path = PUBLISHED) -> dict[str, float]:
    """By the name of the case, the fastest published median on a device of that name [s]."""
    wanted = {key(case) for case in timed(cases)}
    devices = {case.device_name for case in cases}
    found: dict[str, float] = {}
    for folder in sorted(
        path for path in results.iterdir() if same_machine(path, devices)
    ):
        for case in timed(merge.load([folder], pool=True)[0]):
            if key(case) in wanted:
                found[case.name] = min(
                    seconds(case), found.get(case.name, seconds(case))
                )
    return found
