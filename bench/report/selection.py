# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which rows an analysis takes, and which of them may be put together."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from .case import Case
from .rows import Row

# What measures the machine, and solves no problem.
NO_ALGORITHMS = ("ceilings", "overheads")


def of_study(rows: Sequence[Row]) -> list[Row]:
    """Rows of the study itself: no null tests, no candidates of a search.

    What failed is shown wherever it came from.
    """
    aside = (row.case.null or row.case.tuning for row in rows)
    return [row for row, out in zip(rows, aside) if not out or row.verdict == "FAILED"]


def measured(rows: Sequence[Row]) -> list[Row]:
    """Rows of the study that have figures."""
    return [row for row in of_study(rows) if row.median is not None]


def fastest(rows: Iterable[Row]) -> Row:
    """The row of the lowest median. @pre all have figures, at least one"""
    return min(rows, key=time)


def time(row: Row) -> float:
    """The median [s]. @pre the row has figures"""
    assert row.median is not None
    return row.median


def problem_text(row: Row, sizes: bool = True) -> str:
    """``from_host f32 n=1,000``: the problem without its algorithm and device."""
    parts = [row.case.problem_name, row.case.dtype, row.problem if sizes else ""]
    return " ".join(filter(None, parts))


def work_title(row: Row, sizes: bool = True) -> str:
    """``sum from_host f32 n=1,000``: the problem without its device."""
    return f"{row.case.algorithm} {problem_text(row, sizes)}"


def variant(case: Case) -> str:
    """``fused / cuda``; with a communicator that is not the usual one, ``graph / cuda, nccl``."""
    return ", ".join(filter(None, [f"{case.method_text} / {case.model}", engine(case)]))


def text_of(values: dict[str, Any], without: str = "") -> str:
    """Sizes or parameters as a key."""
    kept = {key: value for key, value in values.items() if key != without}
    return json.dumps(kept, sort_keys=True)


def problem(case: Case) -> tuple[object, ...]:
    """Equal for cases whose results are the same: all that solve one problem."""
    values = (text_of(case.sizes), text_of(case.parameters))
    return (
        case.comparison,
        case.algorithm,
        case.dtype,
        *values,
        case.devices,
        case.ranks,
    )


def place(case: Case) -> tuple[object, ...]:
    """Equal for cases whose times may be compared: device, metric, build, engine."""
    device = (case.device_kind, case.device_name)
    return (*device, case.metric, case.context.build, engine(case))


def devices_text(case: Case) -> str:
    """``4 x NVIDIA H200``, and of one device its name."""
    several = f"{case.devices} x " if case.devices > 1 else ""
    return several + (case.device_name or case.device_kind)


def engine(case: Case) -> str:
    """The communicator, where it is not the usual one."""
    return "" if case.communicator == "local" else case.communicator


def automatic(row: Row) -> bool:
    """Whether the method itself chose the launch."""
    return row.case.launch_source == "auto"


def host_clock(row: Row) -> float | None:
    """Time on the host's clock [s]: all that may be compared across kinds of devices.

    Of a case in device time this is its latency, one launch to fence; None without.
    """
    return row.latency if row.case.metric == "device_time" else row.median
