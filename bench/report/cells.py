# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of the page: cells with a text to read, a number to sort by, and a bar."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from . import end_to_end, learning, shape_texts, units, view
from .anchors import anchors
from .case import Case
from .factors import BESIDE, FACTORS, JOINT, RECOVERED, WHOLE
from .figures.figure import device_text, launch_text
from .gap_texts import BEST, BLANK, LIBRARY, TIMES, blank_text
from .gap_texts import RATIO as SLOWER
from .gaps import Gap, field
from .portability import platform
from .ratios import judge
from .rows import Row
from .selection import (
    measured,
    problem_text,
    time,
    variant,
    work_title,
)
from .shapes import ShapeStudy
from .statistics import Estimate
from .view import COLUMNS, ENERGY, METRICS, RATIO, ROOFLINE, devices_of, roofline
from .view import NUMBERS as CASE_NUMBERS
from .view import cells as row_cells

MEDIAN = "median [95 %]"
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
ANSWER = (
    *("problem", "device", *TIMES[:-1], SLOWER, "verdict"),
    *(BEST, LIBRARY, ROOFLINE),
)
GAP = ("problem", "device", WHOLE, *FACTORS, BEST, *BESIDE, BLANK)
ALL = (
    *("problem", "devices", "ranks"),
    # the execution is in the method's name, metrics are below the note
    *(column for column in COLUMNS if column not in ("execution", METRICS)),
)
ANSWER_NUMBERS = (*TIMES, LIBRARY, SLOWER)
GAP_NUMBERS = (WHOLE, *FACTORS, *BESIDE)
NUMBERS = (
    *("devices", "ranks", *CASE_NUMBERS),
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
    cells: dict[str, Cell]
    anchor: str = ""  # the id of the row


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


def beside(name: str, value: float | None) -> Cell:
    """What stands beside the factors."""
    if value is None:
        return Cell("")
    return Cell(f"{100 * value:.0f} %" if name == RECOVERED else f"{value:.3f}", value)


def time_cell(row: Row | None) -> Cell:
    """The median of a row, below it what it is of; the interval is in the table of every case."""
    if row is None:
        return Cell("")
    below = f"{variant(row.case)}; {launch_text(row.case)}"
    return Cell(units.seconds(time(row)), time(row), below=below)


def answer(gaps: Iterable[Gap], rows: list[Row], margin: float) -> list[Line]:
    """One line per gap: the tiers side by side."""
    fields: dict[tuple[object, ...], list[Row]] = {}
    for row in measured(rows):
        fields.setdefault(field(row), []).append(row)
    gaps = list(gaps)
    lines = [answer_line(gap, fields[field(gap.row)], margin) for gap in gaps]
    return anchored("answer", lines, (f"{gap.title} {gap.device}" for gap in gaps))


def anchored(kind: str, lines: list[Line], identities: Iterable[str]) -> list[Line]:
    """The lines with ids by what they show."""
    names = anchors(kind, identities)
    return [replace(line, anchor=name) for line, name in zip(lines, names)]


def identity(case: Case) -> str:
    """What a row of one case shows, in any build."""
    return f"{case.name} {case.device_name}"


def answer_line(gap: Gap, competitors: list[Row], margin: float) -> Line:
    """The tiers of one gap."""
    ratio = gap.ratio
    word, ratio_cell = "", Cell("")
    if ratio:
        word = judge(ratio, margin)
        ends = (ratio.value, ratio.low, ratio.high)
        ratio_cell = with_interval(units.ratio(*ends), ratio.value, bar(*ends))
    cells = {
        **title_cells(gap),
        **dict(zip(TIMES, map(time_cell, (*gap.tiers.values(), gap.native, gap.best)))),
        SLOWER: ratio_cell,
        "verdict": Cell(word, sign=SIGNS.get(word, "")),
        LIBRARY: time_cell(gap.library),
        ROOFLINE: Cell(roofline(gap.row), gap.row.roofline_share),
    }
    models = " ".join(dict.fromkeys(row.case.model for row in competitors))
    ordered = {name: cells[name] for name in ANSWER}
    return Line(gap.algorithm, platform(gap.row.case), models, word, ordered)


def title_cells(gap: Gap) -> dict[str, Cell]:
    """Problem and device."""
    return {
        "problem": Cell(work_title(gap.row, sizes=False), below=gap.sizes),
        "device": Cell(device_text(gap.row.case)),
    }


def factor_lines(gaps: Iterable[Gap], answers: Iterable[Line]) -> list[Line]:
    """The factors of each gap, which filters find with its line of the answer."""
    lines = []
    for gap, line in zip(gaps, answers):
        factors = {name: factor(gap.factors.get(name)) for name in (WHOLE, *FACTORS)}
        if JOINT in gap.factors:
            factors["language"] = replace(factor(gap.factors[JOINT]), below=JOINT)
        cells = {
            **title_cells(gap),
            **factors,
            BEST: Cell(variant(gap.best.case)),
            **{name: beside(name, gap.beside.get(name)) for name in BESIDE},
            BLANK: Cell(blank_text(gap)),
        }
        anchor = line.anchor.replace("answer", "gap")
        shown = {name: cells[name] for name in GAP}
        lines.append(replace(line, cells=shown, anchor=anchor))
    return lines


@dataclass(frozen=True)
class Table:
    """Lines under the columns in which they differ."""

    columns: tuple[str, ...]
    lines: list[Line]
    same: dict[str, str]  # columns that say the same in every line, and what
    numbers: tuple[str, ...]  # columns of numbers


def table(columns: tuple[str, ...], lines: list[Line]) -> Table:
    """The lines without the columns that are equal in all of them."""
    texts = {name: {line.cells[name] for line in lines} for name in columns}
    kept = tuple(name for name in columns if len(texts[name]) > 1 or len(lines) < 2)
    same = {name: texts[name].pop() for name in columns if name not in kept}
    told = {name: f"{one.text} {one.below}".strip() for name, one in same.items()}
    said = {name: text for name, text in told.items() if text}
    numbers = {ANSWER: ANSWER_NUMBERS, GAP: GAP_NUMBERS}.get(columns, NUMBERS)
    return Table(kept, lines, said, numbers)


def every_case(rows: list[Row]) -> list[Line]:
    """One line per case, as in the text tables."""
    devices = devices_of(rows)
    lines = [case_line(row, devices) for row in rows]
    return anchored("case", lines, (identity(row.case) for row in rows))


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
        MEDIAN: with_interval(view.time_figure(row), row.median),
        "latency": replace(plain["latency"], value=row.latency),
        "rate": replace(plain["rate"], value=row.rate),
        ENERGY: with_interval(view.energy_figure(row), row.energy),
        **{
            end_to_end.COLUMNS[way]: with_interval(units.interval(*times), times[0])
            for way, times in row.end_to_end.items()
        },
        ROOFLINE: replace(plain[ROOFLINE], value=row.roofline_share),
        RATIO: with_interval(
            view.ratio_figure(found), found.value if found else None, around
        ),
        "verdict": Cell(row.verdict, sign=SIGNS.get(row.verdict, "")),
        "note": replace(plain["note"], below=plain[METRICS].text),
    }
    cells = {name: special.get(name) or plain[name] for name in ALL}
    return Line(case.algorithm, platform(case), case.model, row.verdict, cells)


def with_interval(
    figure: units.Figure, value: float | None = None, around: Bar | None = None
) -> Cell:
    """``1.006 [1.005, 1.007]`` with its interval on a second line."""
    return Cell(figure.text, value, around, below=figure.ends)


def trainings(found: list[learning.Training]) -> list[Line]:
    """One line per variant, over its seeds; numbers are sorted as such."""
    lines = []
    for one, texts in zip(found, learning.cells(found)):
        number = (len(one.rows), one.curves.shape[1], one.mean, one.deviation)
        values = dict(zip(learning.NUMBERS, (*number, min(one.last), max(one.last))))
        case, columns = one.case, zip(learning.COLUMNS, texts)
        cells = {name: Cell(text, values.get(name)) for name, text in columns}
        lines.append(Line(case.algorithm, platform(case), case.model, "", cells))
    return anchored("training", lines, (identity(one.case) for one in found))


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
        lines.append(Line(case.algorithm, platform(case), models, "", cells))
    return anchored("shape", lines, (identity(one.rows[0].case) for one in every))
