# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of the page: cells with a text to read, a number to sort by, and a bar."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from . import end_to_end, learning, shape_texts, units
from .figures.figure import device_text, launch_text
from .gaps import Gap, ratio_text
from .models import PORTABLES
from .portability import platform
from .ratios import judge
from .rows import Row
from .selection import (
    fastest,
    measured,
    place,
    problem,
    problem_text,
    time,
    variant,
    work_title,
)
from .shapes import ShapeStudy
from .statistics import Estimate
from .view import COLUMNS, ENERGY, ROOFLINE, devices_of, roofline
from .view import NUMBERS as CASE_NUMBERS
from .view import cells as row_cells

MEDIAN, RATIO = "median [95 %]", "native / portable"
REACH = 1.25  # of the bars of ratios
BEYOND = 1e9  # any ratio of times
SIGNS = {
    "faster": "▲",
    "slower": "▼",
    "same": "=",
    "unresolved": "?",
    "FAILED": "✕",
    "skipped": "–",
}
FACTORS = (
    *("tuning", "specialisation", "abstraction"),
    *("method, hardware", "whole gap"),
)
ANSWER = (
    "problem",
    "device",
    "winner",
    "time",
    "portable",
    "its time",
    ROOFLINE,
    RATIO,
    "verdict",
    *FACTORS,
)
ALL = (
    *("problem", "devices", "ranks"),
    *(
        column for column in COLUMNS if column != "execution"
    ),  # it is in the method's name
)
NUMBERS = (
    *("time", "its time", *FACTORS, "devices", "ranks", *CASE_NUMBERS),
    *learning.NUMBERS,
    *shape_texts.NUMBERS,
)


@dataclass(frozen=True)
class Bar:
    """A ratio's interval on a logarithmic axis from 1/REACH to REACH, in per cent of it."""

    left: float
    width: float
    at: float
    beyond: bool  # the value lies outside the axis


@dataclass(frozen=True)
class Cell:
    """One cell; ``value`` is what it is sorted by where its text is no word."""

    text: str
    value: float | None = None
    bar: Bar | None = None
    sign: str = ""
    below: str = ""  # a second line


@dataclass(frozen=True)
class Line:
    """One row of a table, and what the filters look at."""

    algorithm: str
    device: str
    models: str  # separated by spaces
    verdict: str
    leads: bool
    cells: dict[str, Cell]


def per_cent(value: float) -> float:
    """Per cent from the left of the axis 1/REACH .. REACH."""
    return round(min(max(50 + 50 * math.log(value, REACH), 0.0), 100.0), 1)


def bar(value: float, low: float | None, high: float | None) -> Bar:
    """The bar of a ratio."""
    left, right = map(per_cent, (low, high) if low and high else (value, value))
    beyond = not 1 / REACH <= value <= REACH
    return Bar(left, round(right - left, 1), per_cent(value), beyond)


def factor(estimate: Estimate | None) -> Cell:
    """A factor of the gap."""
    if estimate is None:
        return Cell("")
    return Cell(f"{estimate.value:.3f}", estimate.value)


def time_cell(row: Row) -> Cell:
    """The median of a row; its interval is in the table of every case."""
    return Cell(units.seconds(time(row)), time(row))


def answer(gaps: Iterable[Gap], rows: list[Row], margin: float) -> list[Line]:
    """One line per gap: the winner, and the factors of the loss of the portable side."""
    fields: dict[tuple[object, ...], list[Row]] = {}
    for row in measured(rows):
        fields.setdefault((problem(row.case), place(row.case)), []).append(row)
    lines = []
    for gap in gaps:
        case = gap.portable.case
        lines.append(answer_line(gap, fields[problem(case), place(case)], margin))
    return lines


def answer_line(gap: Gap, field: list[Row], margin: float) -> Line:
    """The line of one gap, with all competitors of the problem, peers included."""
    winner = fastest(field)
    ratio = gap.ratio
    word, ratio_cell = "", Cell("")
    if ratio:
        word = judge(ratio, margin)
        ends = (ratio.value, ratio.low, ratio.high)
        ratio_cell = with_interval(units.ratio(*ends), ratio.value, bar(*ends))
        if special := ratio_text(None, gap.blocks_ratio):
            ratio_cell = replace(ratio_cell, below=f"{ratio_cell.below}; {special}")
    found = (
        Cell(work_title(gap.portable, sizes=False), below=gap.sizes),
        Cell(device_text(gap.portable.case)),
        Cell(variant(winner.case), below=launch_text(winner.case)),
        time_cell(winner),
        Cell(variant(gap.portable.case), below=launch_text(gap.portable.case)),
        time_cell(gap.portable),
        Cell(roofline(gap.portable), gap.portable.roofline_share),
        ratio_cell,
        Cell(word, sign=SIGNS.get(word, "")),
        factor(gap.tuning),
        factor(gap.specialisation),
        factor(gap.abstraction),
        factor(gap.method),
        factor(gap.whole),
    )
    models = " ".join(dict.fromkeys(row.case.model for row in field))
    cells = dict(zip(ANSWER, found))
    device = platform(gap.portable.case)
    return Line(gap.algorithm, device, models, word, gap.leads, cells)


@dataclass(frozen=True)
class Table:
    """Lines under the columns in which they differ."""

    columns: tuple[str, ...]
    lines: list[Line]
    same: dict[str, str]  # columns that say the same in every line, and what


def table(columns: tuple[str, ...], lines: list[Line]) -> Table:
    """The lines without the columns that are equal in all of them."""
    texts = {name: {line.cells[name] for line in lines} for name in columns}
    kept = tuple(name for name in columns if len(texts[name]) > 1 or len(lines) < 2)
    same = {name: texts[name].pop() for name in columns if name not in kept}
    told = {name: f"{one.text} {one.below}".strip() for name, one in same.items()}
    return Table(kept, lines, {name: text for name, text in told.items() if text})


def every_case(rows: list[Row]) -> list[Line]:
    """One line per case, as in the text tables."""
    devices = devices_of(rows)
    return [case_line(row, devices) for row in rows]


def case_line(row: Row, devices: dict[str, set[str]]) -> Line:
    """The line of one case; remarks beside a figure in the text tables are below it here."""
    case, found = row.case, row.ratio
    around = bar(found.value, found.low, found.high) if found else None
    plain = {name: Cell(text) for name, text in row_cells(row, devices).items()}
    special = {
        "problem": Cell(case.algorithm, below=problem_text(row)),
        "devices": Cell(str(case.devices), case.devices),
        "ranks": Cell(str(case.ranks), case.ranks),
        "method": Cell(case.method_text),
        "launch": Cell(case.setting, below=launch_text(case)),
        MEDIAN: with_interval(plain[MEDIAN].text, row.median),
        "latency": replace(plain["latency"], value=row.latency),
        "rate": replace(plain["rate"], value=row.rate),
        ENERGY: with_interval(plain[ENERGY].text, row.energy),
        **{
            end_to_end.COLUMNS[way]: with_interval(
                plain[end_to_end.COLUMNS[way]].text, times[0]
            )
            for way, times in row.end_to_end.items()
        },
        ROOFLINE: replace(plain[ROOFLINE], value=row.roofline_share),
        RATIO: with_interval(plain[RATIO].text, found.value if found else None, around),
        "verdict": Cell(row.verdict, sign=SIGNS.get(row.verdict, "")),
    }
    cells = {name: special.get(name) or plain[name] for name in ALL}
    leads = case.model in PORTABLES
    return Line(case.algorithm, platform(case), case.model, row.verdict, leads, cells)


def with_interval(
    text: str, value: float | None = None, around: Bar | None = None
) -> Cell:
    """``1.006 [1.005, 1.007]`` with its interval on a second line."""
    middle, _, ends = text.partition(" [")
    return Cell(middle, value, around, below=f"[{ends}" if ends else "")


def trainings(found: list[learning.Training]) -> list[Line]:
    """One line per variant, over its seeds; numbers are sorted as such."""
    lines = []
    for one, texts in zip(found, learning.cells(found)):
        number = (len(one.rows), one.curves.shape[1], one.mean, one.deviation)
        values = dict(zip(learning.NUMBERS, (*number, min(one.last), max(one.last))))
        case, columns = one.case, zip(learning.COLUMNS, texts)
        cells = {name: Cell(text, values.get(name)) for name, text in columns}
        lines.append(Line(case.algorithm, platform(case), case.model, "", True, cells))
    return lines


def shapes(found: list[ShapeStudy]) -> list[Line]:
    """One line per shape, the farthest from its bound first; what has no ratio is sorted before all."""
    every = [shape for study in found for shape in study.shapes]
    lines = []
    for shape, texts in zip(every, shape_texts.cells(every)):
        case, row = shape.rows[0].case, shape.best
        known = (time(row) if row else None, shape.bound, min(shape.ratio, BEYOND))
        values = dict(zip(shape_texts.NUMBERS, known))
        columns = zip(shape_texts.COLUMNS, texts)
        cells = {name: Cell(text, values.get(name)) for name, text in columns}
        models = row.case.model if row else ""
        lines.append(Line(case.algorithm, platform(case), models, "", True, cells))
    return lines
