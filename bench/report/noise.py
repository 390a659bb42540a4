# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a device was too noisy for verdicts; the report says so above its tables.

Two signs, each of one device: the intervals of ratios are wider than the margin, so that
``same`` cannot be said; or more null tests came out ``faster`` or ``slower`` than the
confidence of the intervals allows.
"""

from __future__ import annotations

import math
from collections import defaultdict

from . import statistics
from .nulls import NullTest, NullTests
from .ratios import Ratio, device
from .rows import Row

SURE = 0.01  # more false verdicts than by chance in one of a hundred runs


def half_width(ratio: Ratio) -> float | None:
    """Half of the interval over the ratio; None without an interval."""
    if ratio.low is None or ratio.high is None:
        return None
    return (ratio.high - ratio.low) / 2 / ratio.value


def chance(false: int, judged: int) -> float:
    """Of that many false verdicts or more, each of which has 5 % for itself."""
    each = 1 - statistics.CONFIDENCE / 100
    return math.fsum(
        math.comb(judged, k) * each**k * (1 - each) ** (judged - k)
        for k in range(false, judged + 1)
    )


def of_ratios(name: str, ratios: list[Ratio], margin: float) -> str:
    """What is said where half of the intervals are wider than the margin; else empty."""
    widths = [width for one in ratios if (width := half_width(one)) is not None]
    if not widths or statistics.median(widths) <= margin:
        return ""
    typical = 100 * statistics.median(widths)
    return (
        f"too noisy for verdicts: {name}: half of the ratios are known to +-{typical:.2g} % or worse, "
        f"so that smaller differences stay unresolved and little is called the same "
        f"(margin {100 * margin:.2g} %); take more samples, or a quiet machine"
    )


def of_nulls(name: str, tests: list[NullTest]) -> str:
    """What is said where more null tests fail than intervals of 95 % allow; else empty."""
    judged = [test for test in tests if test.verdict]
    false = NullTests(judged).false
    if chance(len(false), len(judged)) >= SURE:
        return ""
    return (
        f"too noisy for verdicts: {name}: {len(false)} of {len(judged)} null tests came out faster or slower; "
        f"distrust the others too, and measure in several launches of the program (--repeat)"
    )


def texts(rows: list[Row], nulls: NullTests, margin: float) -> list[str]:
    """What is to be known before any verdict is read; empty on a quiet machine."""
    ratios: dict[str, list[Ratio]] = defaultdict(list)
    tests: dict[str, list[NullTest]] = defaultdict(list)
    for row in rows:
        if row.ratio:
            ratios[named(row)].append(row.ratio)
    for test in nulls.tests:
        tests[named(test.row)].append(test)
        ratios[named(test.row)].append(test.ratio)
    found = [
        text
        for name, some in ratios.items()
        for text in (of_ratios(name, some, margin), of_nulls(name, tests[name]))
    ]
    return list(filter(None, found))


def named(row: Row) -> str:
    """The device of a row, for people."""
    kind, name = device(row.case)
    return str(name or kind)
