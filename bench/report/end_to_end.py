# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""End-to-end times: from inputs on the host to results on the host, in two kinds of memory, cold and warm."""

from __future__ import annotations

from .case import Case, EndToEnd
from .fields import Broken
from .schema import Row

HOST = "host"  # the device is the host: nothing is copied, whatever the memory
MEMORIES = ("pageable", "pinned")
STATES = ("cold", "warm")
WAYS = tuple((memory, state) for memory in MEMORIES for state in STATES)


def column(memory: str, state: str) -> str:
    """The column of the tables."""
    return f"end to end, {memory}, {state} [95 %]"


COLUMNS = {way: column(*way) for way in WAYS}


def read(row: Row, launch_id: str) -> dict[tuple[str, str], EndToEnd]:
    """The entry ``end_to_end`` of a record, by memory and state."""
    found: dict[tuple[str, str], EndToEnd] = {}
    for one in row.end_to_end:
        way, samples = (one.memory, one.state), one.samples
        if way in found:
            raise Broken(f"'end_to_end' has two of {', '.join(way)}")
        if not samples and not one.reason:
            raise Broken("'end_to_end' has neither samples nor a reason")
        for part, times in one.parts.items():
            if len(times) != len(samples):
                text = f"{len(times)} times, not {len(samples)}"
                raise Broken(f"'end_to_end.parts.{part}' holds {text}")
        launches = {launch_id: samples} if samples else {}
        found[way] = EndToEnd(launches, one.parts, one.reason)
    return found


def combine(first: Case, second: Case) -> None:
    """Adds the launches of the second case to the first."""
    for way, other in second.end_to_end.items():
        mine = first.end_to_end.setdefault(way, EndToEnd())
        if mine is other:
            continue
        mine.launches = {**mine.launches, **other.launches}
        mine.reason = mine.reason or other.reason
        for part, times in other.parts.items():
            mine.parts[part] = mine.parts.get(part, []) + times


def of(case: Case, memory: str, state: str) -> EndToEnd | None:
    """The times of one way; those of a host are the same in any memory."""
    found = case.end_to_end.get((HOST, state)) or case.end_to_end.get((memory, state))
    return found if found and found.launches else None


def notes(case: Case) -> list[str]:
    """Why there is no such time, where one was asked for."""
    reasons: dict[str, list[str]] = {}
    for (memory, state), one in case.end_to_end.items():
        if one.reason and not one.launches:
            reasons.setdefault(one.reason, []).append(f"{memory} {state}")
    every = len(case.end_to_end)
    return [
        "no end-to-end time"
        + ("" if len(ways) == every else f" ({', '.join(ways)})")
        + f": {reason}"
        for reason, ways in reasons.items()
    ]
