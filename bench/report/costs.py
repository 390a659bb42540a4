# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a record says of the work of a case, and of the device that bounds it."""

from __future__ import annotations

from typing import Any

from .fields import clean, number, take

COUNTS = (
    *("bytes", "written_bytes", "method_bytes"),
    *("operations", "method_operations", "best_operations", "chain"),
)


def read(row: Any) -> dict[str, Any]:
    """What a compute moves [bytes] and calculates, of the problem and of the method."""
    cost = take(row, "cost", dict, {})
    others = take(cost, "other_operations", dict, {})
    return {
        **{key: number(take(cost, key, object, 0), key) for key in COUNTS},
        "other_operations": {
            clean(unit): number(count, f"other_operations.{clean(unit)}")
            for unit, count in others.items()
        },
    }


def clock(row: Any) -> float:
    """The fastest clock of a GPU that was read before or after the samples [Hz]; 0 where none was."""
    found = [take(row, key, dict, {}) for key in ("readings_before", "readings_after")]
    texts = [str(one.get("sm_clock_MHz", "")) for one in found]
    numbers = [float(text) for text in texts if text.isdecimal() and len(text) < 6]
    return 1e6 * max(numbers, default=0.0)


def multiprocessors(league: Any) -> tuple[tuple[str, int], ...]:
    """The name of each GPU of the machine and how many multiprocessors it has, where the record says so."""
    found = []
    for device in take(league, "devices", list, []):
        text = str(take(device, "multiprocessors", object, ""))
        if text.isdecimal() and len(text) < 6:
            found.append((take(device, "name", str), int(text)))
    return tuple(found)
