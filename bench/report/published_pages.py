# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The result tables on the algorithms' own pages, drawn from the published records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from heapq import nlargest
from pathlib import Path

from . import marked, units
from .case import Case
from .factors import quickest, ratio
from .gap_texts import ratio_text
from .kinds import BY_HAND
from .published_records import ONCE, USUAL, resident
from .rows import Row
from .selection import place, problem, problem_text, time
from .table import markdown_table
from .view import ROOFLINE, headline, roofline
from .writing import FLAT, TIERS, tier

FOLDER = "h200"  # of the newest build
PART = "once"  # of a page, about kernels written once
LONGEST = 3  # problems of that part


def pages(readme: Path, name: str) -> Iterator[Path]:
    """The pages beside this README that have a place for such tables."""
    for page in sorted(readme.parent.glob("algorithms/*/README.md")):
        if marked.markers(name)[0] in page.read_text(encoding="utf-8"):
            yield page


def source(cases: list[Case], records: str) -> str:
    """What measured them, and links to the folder and its table."""
    return (
        f"{headline(cases)} ([records]({records}), [whole table]({records}/table.md))."
    )


def draw(algorithm: str, cases: list[Case], rows: list[Row]) -> str:
    """Every method of the algorithm, each model at its best launch; then what others take."""
    mine = [row for row in rows if row.case.algorithm == algorithm]
    found = [case for case in cases if case.algorithm == algorithm]
    parts = [
        source(found, f"../../bench/results/{FOLDER}"),
        method_table(methods(mine)),
    ]
    others = [text for group in problems(mine) if (text := others_text(group))]
    if others:
        parts += ["Libraries and Python peers:", "\n".join(others)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def draw_once(algorithm: str, results: Path) -> str:
    """Every method of the algorithm in the studies of kernels written once, on the problems that take longest; raises Broken."""
    parts = []
    for name in ONCE:
        rows = [
            row
            for row in resident(results / name)
            if row.case.algorithm == algorithm and row.case.dtype == USUAL
        ]
        if not rows:
            continue
        shown = nlargest(LONGEST, problems(rows), lambda group: min(map(time, group)))
        cases = [row.case for group in shown for row in group]
        parts += [
            source(cases, f"../../bench/results/{name}"),
            method_table(methods([row for group in shown for row in group])),
        ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def problems(rows: list[Row]) -> list[list[Row]]:
    """Rows of one problem on one device, in their order."""
    groups: dict[object, list[Row]] = defaultdict(list)
    for row in rows:
        groups[problem(row.case), place(row.case)].append(row)
    return list(groups.values())


def methods(rows: list[Row]) -> list[list[Row]]:
    """Rows of one problem and method that are written here, portable or native."""
    groups: dict[object, list[Row]] = defaultdict(list)
    for number, group in enumerate(problems(rows)):
        for row in group:
            if row.case.kind in BY_HAND:
                groups[number, row.case.way].append(row)
    return list(groups.values())


def method_table(groups: list[list[Row]]) -> str:
    """One line a method; columns of the tiers of Kokkos' code that any of them has."""
    found = {tier(row.case) for group in groups for row in group}
    tiers = [one for one in TIERS if one in found]
    columns = (
        *("problem", "method", *tiers, "native"),
        *(f"{one} / native" for one in tiers if one != FLAT),
        f"{ROOFLINE} ({', '.join([*tiers, 'native'])})",
    )
    return markdown_table(columns, [method_line(group, tiers) for group in groups])


def method_line(group: list[Row], tiers: list[str]) -> tuple[str, ...]:
    """Each tier and native at its best launch, one beside the other."""
    by_tier: dict[str, list[Row]] = {one: [] for one in (*tiers, "")}
    for row in group:
        by_tier[tier(row.case)].append(row)
    *kokkos, native = found = [quickest(some) for some in by_tier.values()]
    rooflines = [(roofline(row) if row else "") or "-" for row in found]
    ratios = {
        one: ratio_text(ratio(row, native))
        for one, row in zip(tiers, kokkos)
        if one != FLAT
    }
    return (
        problem_text(group[0]),
        (next(filter(None, kokkos), None) or group[0]).case.method_text,
        *map(rate_text, kokkos),
        f"{native.case.model} {rate_text(native)}" if native else "",
        *ratios.values(),
        ", ".join(rooflines) if {*rooflines} != {"-"} else "",
    )


def rate_text(row: Row | None) -> str:
    """``0.75 ms, 4314 GB/s``: the rate where there is one to speak of."""
    if row is None:
        return ""
    told = row.rate is not None and row.rate >= 1
    rate = units.rate(row.rate, row.rate_unit) if told else ""
    return ", ".join(filter(None, [units.seconds(time(row)), rate]))


def others_text(group: list[Row]) -> str:
    """``- f32 n=8: cub reduce 0.9 ms; ...``: the fastest first; nothing without others."""
    others = [row for row in group if row.case.kind not in BY_HAND]
    texts = [
        f"{row.case.model} `{row.case.method_text}` {units.seconds(time(row))}"
        for row in sorted(others, key=time)
    ]
    return f"- {problem_text(group[0])}: {'; '.join(texts)}" if texts else ""
