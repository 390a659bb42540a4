# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long each comparison takes: measured where a record says so, else by default."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..report import decode
from ..report.fields import Broken
from ..report.kinds import PEER
from ..report.schema import Record
from ..report.sources import record_files
from .campaign import Planned, command
from .errors import BadInput

CASE_S, PEER_S = 2.0, 10.0  # by default; peers start, and many compile
CEILINGS = "ceilings"


@dataclass(frozen=True)
class Recorded:
    """The longest time of a comparison in earlier records [s], and its cases there."""

    seconds: float
    cases: frozenset[str]


def recorded(folders: Iterable[Path]) -> dict[str, Recorded]:
    """The times of earlier records, by comparison; those without a time say nothing."""
    times: dict[str, Recorded] = {}
    for folder in folders:
        try:
            files = record_files(folder)
        except Broken as error:
            raise BadInput(f"--times {error}") from error
        if not files:
            raise BadInput(f"--times {folder}: holds no records/*.json, packed or not")
        for file in files:
            try:
                name, one = read_time(decode.record(file))
            except Broken as error:
                raise BadInput(f"--times {folder}: {file.name}: {error}") from error
            if one and (name not in times or times[name].seconds < one.seconds):
                times[name] = one
    return times


class Named(Struct):
    """A row."""

    name: str


def read_time(record: Record) -> tuple[str, Recorded | None]:
    """The comparison of a record, and its time; None in records before they had one."""
    name, seconds = record.comparison, record.seconds
    if seconds is None:
        return name, None
    rows = decode.rows(record, Named)
    return name, Recorded(seconds, frozenset(row.name for row in rows))


def foreseen(
    executable: Path, python: str, study: Path, options: list[str]
) -> list[dict[str, Any]]:
    """The comparisons of a study by ``league run --dry-run``; raises BadInput, with what it said."""
    words = [*options, "--dry-run", "--benchmark_format=json"]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            command(executable, python, study, Path(folder), words),
            capture_output=True,
            text=True,
            check=False,
        )
    try:
        return list(json.loads(done.stdout)["comparisons"])
    except (KeyError, TypeError, ValueError) as error:
        said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise BadInput(f"{study}: no dry run of it: {said}") from error


def runs(case: dict[str, Any]) -> bool:
    """Whether it is measured, or FAILS: also where the plan is made without a GPU."""
    return bool(case["status"] != "skipped" or case["state"] == "no_device")


def default_s(case: dict[str, Any]) -> float:
    """The time of a case without a record [s]."""
    usual = PEER_S if case["kind"] == PEER else CASE_S
    return max(usual, float(case["seconds"]))


def planned(
    comparison: dict[str, Any], known: Recorded | None, launches: int
) -> Planned | None:
    """None where nothing of it runs here. Cases that the record lacks add their default."""
    cases = [case for case in comparison["cases"] if runs(case)]
    if not cases:
        return None
    new = [c for c in cases if known is None or c["name"] not in known.cases]
    seconds = (known.seconds if known else 0.0) + sum(map(default_s, new))
    ceilings = cases[0]["algorithm"] == CEILINGS
    return Planned(seconds, launches, known is not None, ceilings)
