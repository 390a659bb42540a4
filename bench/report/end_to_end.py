# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""End-to-end times: from inputs on the host to results on the host, in two kinds of memory, cold and warm."""

from __future__ import annotations

from typing import Any

from . import fields
from .case import Case, EndToEnd
from .fields import Broken, clean, take

HOST = "host"  # the device is the host: nothing is copied, whatever the memory
MEMORIES = ("pageable", "pinned")
STATES = ("cold", "warm")
WAYS = tuple((memory, state) for memory in MEMORIES for state in STATES)


def column(memory: str, state: str) -> str:
    """The column of the tables."""
    return f"end to end, {memory}, {state} [95 %]"


COLUMNS = {way: column(*way) for way in WAYS}


def read(row: Any, launch_id: str, passed: bool) -> dict[tuple[str, str], EndToEnd]:
    """The entry ``end_to_end`` of a record, by memory and state."""
    found: dict[tuple[str, str], EndToEnd] = {}
    for one in take(row, "end_to_end", list, []):
        memory, state = take(one, "memory", str), take(one, "state", str)
        if memory not in (*MEMORIES, HOST) or state not in STATES:
            raise Broken(f"'end_to_end' is of {fields.shown(f'{memory}, {state}')}")
        if (memory, state) in found:
            raise Broken(f"'end_to_end' has two of {memory}, {state}")
        reason = take(one, "reason", str, "")
        samples = fields.times(take(one, "samples", list, []), "end_to_end.samples")
        if not samples and not reason:
            raise Broken("'end_to_end' has neither samples nor a reason")
        parts = {}
        for part in take(one, "parts", dict, {}):
            name = f"end_to_end.parts.{clean(part)}"
            values = take(one["parts"], part, list)
            parts[clean(part)] = [
                fields.number(value, name, maximum=fields.MAX_TIME_S)
                for value in values
            ]
            if len(values) != len(samples):
                raise Broken(f"'{name}' holds {len(values)} times, not {len(samples)}")
        launches = {launch_id: samples} if samples else {}
        found[memory, state] = EndToEnd(launches, parts, reason)
    return found if passed else {}


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
