# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Null tests: a variant against itself must not be called faster or slower.

Every study measures some variants twice, interleaved like all others (an A/A test). A
verdict of faster or slower on such a pair is a false positive; their rate shows how
reliable verdicts are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .case import Case
from .merge import identity
from .options import MARGIN
from .ratios import Ratio, ratio
from .rows import Row

SUFFIX = "/null:1"


@dataclass(frozen=True)
class NullTest:
    """One variant against itself."""

    row: Row
    null: Row
    ratio: Ratio

    @property
    def verdict(self) -> str:
        """Of the repetition; empty where the samples are too few."""
        return self.ratio.verdict


@dataclass(frozen=True)
class NullTests:
    """All null tests of the records; a verdict of faster or slower is false."""

    tests: list[NullTest]

    @property
    def false(self) -> list[NullTest]:
        """The false positives."""
        return [test for test in self.tests if test.verdict in ("faster", "slower")]


def repeated(case: Case) -> tuple[object, ...]:
    """The identity of the case that this one repeats, or its own."""
    return identity(replace(case, name=case.name.removesuffix(SUFFIX)))


def nulls(rows: list[Row], margin: float = MARGIN) -> NullTests:
    """The null rows, each with the row that it repeats; skipped and failed ones out."""
    passed = [row for row in rows if row.median is not None]
    own = {identity(row.case): row for row in passed if not row.case.null}
    pairs = [
        (own.get(repeated(row.case)), row)
        for row in passed
        if row.case.null and row.case.launches
    ]
    return NullTests(
        [NullTest(a, b, ratio(b.case, a.case, margin)) for a, b in pairs if a]
    )


def texts(found: NullTests) -> list[str]:
    """How many null tests there were, and which verdicts were false."""
    if not found.tests:
        return []
    judged = [test for test in found.tests if test.verdict]
    text = f"null tests, each a variant against itself: {len(found.tests)}"
    if len(judged) < len(found.tests):
        text += f", {len(judged)} with samples enough for a verdict"
    lines = [f"{text}, false verdicts: {len(found.false)}"]
    for test in found.false:
        value = f"{test.ratio.value:.3f} [{test.ratio.low:.3f}, {test.ratio.high:.3f}]"
        lines.append(f"false verdict: {test.row.case.name} {test.verdict} {value}")
    return lines
