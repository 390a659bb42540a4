# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a record says of the work of a case, and of the device that bounds it."""

from __future__ import annotations

from typing import Any

from .schema import Device, Row

COUNTS = (
    *("bytes", "written_bytes", "method_bytes"),
    *("operations", "method_operations", "best_operations", "chain"),
)


def read(row: Row) -> dict[str, Any]:
    """What a compute moves [bytes] and calculates, of the problem and of the method."""
    counts = {key: getattr(row.cost, key) for key in COUNTS}
    return {**counts, "other_operations": row.cost.other_operations}


def clock(row: Row) -> float:
    """The fastest clock of a GPU that was read before or after the samples [Hz]; 0 where none was."""
    found = (row.readings_before, row.readings_after)
    texts = [one.get("sm_clock_MHz", "") for one in found]
    numbers = [float(text) for text in texts if text.isdecimal() and len(text) < 6]
    return 1e6 * max(numbers, default=0.0)


def multiprocessors(devices: list[Device]) -> tuple[tuple[str, int], ...]:
    """The name of each GPU of the machine and how many multiprocessors it has, where the record says so."""
    return tuple(
        (one.name, int(text))
        for one in devices
        if (text := one.multiprocessors).isdecimal() and len(text) < 6
    )
