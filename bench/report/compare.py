# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.report compare A B``: what B does faster or slower than A."""

from __future__ import annotations

import argparse
from collections import Counter

from . import builds, detectable, hosts, metric_texts, pairs, spread, statistics, units
from .case import Case
from .csv_text import figure, written
from .factors import geometric_mean
from .merge import load
from .metric_texts import BESIDE, side_by_side
from .pairs import Comparison, Pair
from .table import escape, markdown_table
from .terminal import complain, show
from .view import headline

COLUMNS = ("case", "A", "B", "B / A", "detectable", "verdict", "note")
CSV_COLUMNS = (
    *("name", "a_s", "b_s", "b_over_a", "b_over_a_low", "b_over_a_high"),
    *("verdict", "regression", "improvement", "reason", "detectable"),
)
MIN_LAUNCHES = 3


def cells(pair: Pair) -> tuple[str, ...]:
    """The texts of one pair, by COLUMNS."""
    times = [
        units.seconds(statistics.median(case.samples)) if case.samples else case.status
        for case in (pair.a, pair.b)
    ]
    found = pair.ratio
    ratio = str(units.ratio(found.value, found.low, found.high)) if found else ""
    mark = "regression" if pair.regression else "improvement" * pair.improvement
    note = "; ".join(filter(None, [mark, pair.reason]))
    smallest = detectable.text(pair.detectable)
    return (pair.name, *times, ratio, smallest, pair.verdict, note)


def summary(found: Comparison) -> str:
    """``12 cases in both: 1 faster, 11 same; 0 regressions, ...; B / A 1.003 in the geometric mean``."""
    counts = Counter(pair.verdict for pair in found.pairs)
    verdicts = ", ".join(f"{number} {name}" for name, number in counts.items())
    ratios = [pair.ratio.value for pair in found.pairs if pair.ratio]
    mean = (
        f"; B / A {geometric_mean(ratios):.3f} in the geometric mean" if ratios else ""
    )
    return (
        f"{len(found.pairs)} cases in both: {verdicts or 'none'}; "
        f"regressions: {len(found.regressions)}, "
        f"improvements: {len(found.improvements)}, missing in B: {len(found.missing)}, "
        f"only in A: {len(found.only_a)}, only in B: {len(found.only_b)}{mean}"
    )


def unlike(sides: list[list[Case]]) -> list[str]:
    """In what the builds and the hosts of A and of B differ."""
    contexts = [builds.all_contexts(cases) for cases in sides]
    found = [dict.fromkeys(c.build for c in some) for some in contexts]
    lines = [builds.differences(found[0] | found[1])]
    places = [dict.fromkeys(map(hosts.host, some)) for some in contexts]
    if places[0] != places[1]:
        names = hosts.names(places[0] | places[1])
        each = (", ".join(names[where] for where in some) for some in places)
        lines.append(f"host {' | '.join(each)}")
    told = ", ".join(filter(None, lines))
    return [f"A and B differ in: {told}"] if told else []


def caution(found: Comparison) -> list[str]:
    """A warning: intervals of few launches omit the variation between launches."""
    compared = [p for p in found.pairs if p.ratio]
    launches = [len(case.launches) for p in compared for case in (p.a, p.b)]
    if not launches or min(launches) >= MIN_LAUNCHES:
        return []
    text = f"cases of fewer than {MIN_LAUNCHES} launches per side: their intervals do"
    return [f"{text} not hold what differs from one launch of the program to the next"]


def alone(found: Comparison) -> list[tuple[str, str]]:
    """Cases of one side only; those that passed in A count as missing in B."""
    lost = set(found.missing)
    first = [n + ": a regression, missing in B" * (n in lost) for n in found.only_a]
    return [("only in A", n) for n in first] + [("only in B", n) for n in found.only_b]


def tables(found: Comparison) -> list[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """The columns and rows of the times, what changed first; then of the metrics, where there are any."""
    rest = [p for p in found.pairs if not (p.regression or p.improvement)]
    every = [*found.regressions, *found.improvements, *rest]
    metrics = [one.cells for p in every for one in side_by_side(p.name, p.a, p.b)]
    both = [(COLUMNS, [cells(p) for p in every]), (BESIDE, metrics)]
    return [(columns, rows) for columns, rows in both if rows]


def aligned(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    """The lines of a table, each cell as wide as the widest of its column."""
    widths = [max(map(len, column)) for column in zip(columns, *rows)]
    padded = [map(str.ljust, row, widths) for row in (columns, *rows)]
    return ["  ".join(texts).rstrip() for texts in padded]


def to_text(found: Comparison, heads: list[str]) -> str:
    """Regressions first, then improvements, then the rest, aligned."""
    lines = list(heads)
    for columns, rows in tables(found):
        lines += ["", *aligned(columns, rows)]
    lines += [f"{where}: {name}" for where, name in alone(found)]
    return "\n".join([*lines, "", summary(found)]) + "\n"


def to_markdown(found: Comparison, heads: list[str]) -> str:
    """The same for an issue."""
    lines = "".join(f"- {escape(text)}\n" for text in [*heads, summary(found)])
    parts = [markdown_table(columns, rows) for columns, rows in tables(found)]
    ends = "".join(f"- {where}: {escape(name)}\n" for where, name in alone(found))
    return "\n".join(filter(None, [lines, *parts, ends]))


def record(pair: Pair) -> dict[str, object]:
    """The CSV cells of a pair, with those of its metrics."""
    sides, ratio = (pair.a, pair.b), pair.ratio
    times = [statistics.median(c.samples) if c.samples else None for c in sides]
    ends = (ratio.value, ratio.low, ratio.high) if ratio else (None,) * 3
    numbers = map(figure, (*times, *ends))
    flags = (int(pair.regression), int(pair.improvement))
    smallest = figure(pair.detectable)
    cells = (pair.name, *numbers, pair.verdict, *flags, pair.reason, smallest)
    metrics = {
        f"{name}_{side}": figure(value)
        for side, case in zip("ab", sides)
        for name, value in metric_texts.figures(case).items()
    }
    return dict(zip(CSV_COLUMNS, cells)) | metrics


def to_csv(found: Comparison) -> str:
    """One line per pair, times in seconds."""
    return written([record(pair) for pair in found.pairs], CSV_COLUMNS)


def run(options: argparse.Namespace) -> int:
    """Compares as the options say; returns the exit code."""
    sides, broken = [], False
    for folder in (options.a, options.b):
        cases, problems = load([folder], pool=options.pool_hosts)
        broken = broken or bool(problems)
        for problem in problems:
            complain(problem)
        sides.append(cases)
    found = pairs.side_by_side(sides[0], sides[1], options.margin)
    if not found.pairs:
        complain("no case is in both folders")
    heads = [f"{k}: {headline(c)}" for k, c in zip("AB", sides) if c]
    heads += [
        *unlike(sides),
        *spread.texts(found.spreads, options.margin),
        *detectable.texts(pair.detectable for pair in found.pairs),
        *caution(found),
    ]
    if options.csv:
        show(to_csv(found))
    else:
        draw = to_markdown if options.markdown else to_text
        show(draw(found, heads))
    worse = bool(found.regressions or found.missing)
    regressed = options.fail_on_regression and worse
    return int(broken or not found.pairs or regressed)
