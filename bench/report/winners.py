# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The winners, for a terminal: one line per problem, then failures; in a few lines what did not run."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence

from . import expected, gap_texts, means, nulls, shape_texts, units, unresolved
from .bounds import LATENCY, LINK
from .factors import WHOLE
from .findings import Findings
from .gap_texts import BEST, LIBRARY, RATIO
from .gaps import Gap
from .ratios import judge
from .rows import Row
from .selection import of_study, time
from .statistics import Estimate
from .terminal import coloured, shorten
from .writing import FLAT, ONCE, SEVERAL, SPECIAL, TIERS

COLUMNS = (
    *("problem", "device", *TIERS, "native"),
    *(RATIO, "verdict", BEST, LIBRARY, WHOLE, "roofline"),
)
RIGHT = (RATIO, WHOLE, "roofline")
WIDE = 110  # columns from which on methods, intervals and the whole gap have room
WITH_METHODS = 2  # tiers that have room for their methods
WIDEST = 140  # the best library or peer, and the roofline
GIVE_WAY = (  # to these, in this order, until all fit
    *((LIBRARY, 18), ("problem", 20), (BEST, 18), (LIBRARY, 10), (ONCE, 18)),
    *((SEVERAL, 18), (SPECIAL, 13), (FLAT, 13), ("problem", 14), (BEST, 14)),
    *((ONCE, 14), (SEVERAL, 14), ("device", 6), ("native", 7), (ONCE, 7)),
    *((SEVERAL, 7), (SPECIAL, 7), (FLAT, 7), (BEST, 10), ("problem", 10)),
)
REASONS = 4  # that are named, of why cases did not run


def time_text(row: Row) -> str:
    """``7.31 ms``."""
    size, unit = units.scale(time(row))
    return f"{units.plain(time(row) / size)} {unit}"


def number(value: float) -> str:
    """``0.98``, ``14.0``, ``122``."""
    places = 2 if value < 10 else 1 if value < 100 else 0
    return f"{value:.{places}f}"


def ratio_text(ratio: Estimate, wide: bool) -> str:
    """``0.98 [0.97, 0.99]``."""
    ends = [ratio.low, ratio.high] if wide else []
    known = [number(end) for end in ends if end is not None]
    return number(ratio.value) + (f" [{', '.join(known)}]" if known else "")


def cell(row: Row | None, *more: str) -> str:
    """``6.31 ms library``; nothing without a row."""
    return " ".join([time_text(row), *more]) if row else ""


def who(row: Row | None) -> tuple[str, ...]:
    """Model and method."""
    return (row.case.model, row.case.method_text) if row else ()


def roofline_text(row: Row) -> str:
    """``69 %``; ``latency`` where that is the limit."""
    share = row.roofline_share
    if share is not None:
        return units.per_cent(share)
    return row.limit if row.limit in (LATENCY, LINK) else ""


def line(gap: Gap, margin: float, width: int, methods: bool) -> dict[str, str]:
    """The cells of one problem; ``methods``: of the tiers too."""
    wide, widest = width >= WIDE, width >= WIDEST
    rows = gap.tiers.values()
    texts = (
        f"{gap.algorithm} {gap.problem}".replace(" f32", ""),
        gap.device,
        *(cell(row, *who(row)[1:] if methods else ()) for row in rows),
        cell(gap.native, *who(gap.native)[:1] if methods or widest else ()),
        ratio_text(gap.ratio, wide) if gap.ratio else "",
        judge(gap.ratio, margin) if gap.ratio else "",
        cell(gap.best, *who(gap.best)),
        cell(gap.library, *who(gap.library)) if widest else "",
        number(gap.whole.value) if wide and gap.whole else "",
        roofline_text(gap.row) if widest else "",
    )
    return dict(zip(COLUMNS, texts))


def column_widths(
    lines: list[dict[str, str]], head: dict[str, str], width: int
) -> dict[str, int]:
    """As wide as the longest cell; where that is too much, column after column gives way. Empty columns go."""
    widths = {
        column: max(len(head[column]), *(len(line[column]) for line in lines))
        for column in COLUMNS
        if any(line[column] for line in lines)
    }
    if len({line["device"] for line in lines}) == 1:
        del widths["device"]  # the headline names it
    for column, minimum in GIVE_WAY:
        over = sum(widths.values()) + 2 * (len(widths) - 1) - width
        if over > 0 and widths.get(column, 0) > minimum:
            widths[column] = max(widths[column] - over, minimum)
    return widths


def row_text(cells: dict[str, str], widths: dict[str, int]) -> str:
    """The cells, padded."""
    texts = {column: shorten(cells[column], width) for column, width in widths.items()}
    return "  ".join(
        text.rjust(widths[column]) if column in RIGHT else text.ljust(widths[column])
        for column, text in texts.items()
    ).rstrip()


def table(gaps: Sequence[Gap], margin: float, width: int, colour: bool) -> list[str]:
    """A head, and one line for each problem, precision class and device. @pre there are gaps"""
    tiers = sum(any(gap.tiers[tier] for gap in gaps) for tier in TIERS)
    methods = width >= WIDE and tiers <= WITH_METHODS
    lines = [line(gap, margin, width, methods) for gap in gaps]
    names = dict(zip(COLUMNS, COLUMNS))
    if width < WIDE:
        names |= {RATIO: "ratio"}
    if not methods:
        names |= {ONCE: "once", SEVERAL: "several", SPECIAL: "special"}
    widths = column_widths(lines, names, width)
    head = row_text(names, widths)
    found = [(row_text(cells, widths), cells["verdict"]) for cells in lines]
    return [head, *(coloured(text, verdict, colour) for text, verdict in found)]


def failures(rows: list[Row], width: int, colour: bool) -> list[str]:
    """Every case that failed, with the whole reason."""
    return [
        coloured(part, row.verdict, colour)
        for row in of_study(rows)
        if row.verdict == "FAILED"
        for part in textwrap.wrap(
            f"FAILED {row.case.name}: {row.reason}",
            width,
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
    ]


def to_summary(
    headline: str,
    remarks: list[str],
    found: Findings,
    rows: list[Row],
    width: int,
    colour: bool = False,
) -> str:
    """Winners, failures, warnings and the reliability of the verdicts."""
    warnings = [
        *expected.texts(found.unexpected),
        *nulls.texts(found.nulls)[:1],
        *unresolved.texts(found.gaps, found.margin),
        *found.detectable,
    ]
    left = gap_texts.left_out(found.gaps)
    shapes = shape_texts.texts(found.shapes)
    said = [f"preflight: {text}" for text in remarks]
    lines = [
        *wrapped([headline, *said], width),
        "",
        *table(found.gaps, found.margin, width, colour),
        *failures(rows, width, colour),
        "",
        *wrapped([*warnings, *means.texts(found.means), *left, *shapes], width),
    ]
    return "\n".join(lines).rstrip() + "\n"


def wrapped(texts: list[str], width: int) -> list[str]:
    """Lines no longer than the width."""
    parts = (textwrap.wrap(text, width, subsequent_indent="  ") for text in texts)
    return [part for some in parts for part in some]


def not_run(rows: list[Row]) -> str:
    """``264 of 422 cases did not run: 120 no module cupy, ...``; empty where all ran."""
    own = of_study(rows)
    reasons = Counter(row.reason for row in own if row.verdict == "skipped")
    if not reasons:
        return ""
    counts = reasons.most_common()
    parts = [f"{count} {reason}" for reason, count in counts[:REASONS]]
    if rest := counts[REASONS:]:
        parts.append(f"{sum(count for _, count in rest)} for {len(rest)} other reasons")
    share = f"{reasons.total()} of {len(own)} cases did not run"
    return f"{share} (--show-skipped): {'; '.join(parts)}"


def skipped(rows: list[Row]) -> list[str]:
    """Every case that did not run, with the reason."""
    return [
        f"skipped {row.case.name}: {row.reason}"
        for row in of_study(rows)
        if row.verdict == "skipped"
    ]
