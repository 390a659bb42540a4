# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of a check outside the range that the study expects."""

from __future__ import annotations

from dataclasses import dataclass

from .rows import Row
from .selection import measured


@dataclass(frozen=True)
class Unexpected:
    """A result that passed its check, with a figure outside the expected range."""

    row: Row
    figure: str
    value: float | None  # None: the check has no such figure
    low: float
    high: float


def unexpected(rows: list[Row]) -> list[Unexpected]:
    """All of them, in the order of the rows."""
    found = []
    for row in measured(rows):
        for figure, (low, high) in row.case.expected.items():
            value = row.case.figures.get(figure)
            if value is None or not low <= value <= high:
                found.append(Unexpected(row, figure, value, low, high))
    return found


def texts(found: list[Unexpected]) -> list[str]:
    """One line each."""
    return [
        f"UNEXPECTED {one.figure}: {'not in the check' if one.value is None else f'{one.value:.6g}'}, "
        f"the study expects {one.low:g} to {one.high:g}: {one.row.case.name}"
        for one in found
    ]
