# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report as one HTML page that loads nothing: answer, figures, machine and method."""

from __future__ import annotations

import html
import shutil
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from . import cells, gap_texts, learning, machine, shape_texts, table, warnings
from .bounds import CACHE, LATENCY, LINK
from .builds import all_contexts
from .case import Case
from .figures import Figure, all_figures, available, render
from .figures.compact import share
from .figures.processes import side_by_side
from .files import write_whole
from .findings import Findings
from .rows import Row
from .selection import of_study
from .terminal import complain
from .view import preflight

try:
    import jinja2

    TEMPLATES = True
except ImportError:  # a machine with python3 and numpy only
    TEMPLATES = False

HERE = Path(__file__).parent
PLAIN = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>League table</title></head>
<body><pre>{text}</pre></body></html>
"""
NO_FIGURES = "Matplotlib is not installed here, so this report has no figures."
BROKEN = (ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError)
LIMITS = {
    CACHE: "on data that may stay in the last-level cache, where the memory's peak is not the limit",
    LATENCY: "bound by the latency of many short steps",
    LINK: "fed by the host, whose link no ceiling measures",
}
SHOWN = 12  # names of cases under a figure; the rest is counted
FOLDED = 500  # rows: of more cases, tables but the answer and figures wait to be opened


@dataclass(frozen=True)
class Drawn:
    """A figure as the page holds it."""

    figure: Figure
    name: str  # of its files
    prefix: str  # of the ids in its SVG
    svg: str
    problem: str  # why it could not be drawn; empty where it was


@dataclass(frozen=True)
class Report:
    """All that the page shows."""

    headline: str
    problems: list[str]  # what was left out and why
    remarks: list[str]
    found: Findings
    cases: list[Case]
    rows: list[Row]
    margin: float
    markdown: str
    folders: tuple[str, ...]
    png: bool = False  # whether each figure is written as PNG too

    @property
    def commands(self) -> list[str]:
        """The commands that measured and that made this page."""
        facts = [dict(context.facts) for context in all_contexts(self.cases)]
        studies = dict.fromkeys(f["study"] for f in facts if f.get("study"))
        runs = [f"bench/run configs/{place(study)}{study}.toml" for study in studies]
        return [*runs, "python3 -m bench.report " + " ".join(self.folders)]


def place(study: str) -> str:
    """The folder of a study within configs: those of the replicated figures have their own."""
    own = HERE.parents[1] / "configs" / "studies" / f"{study}.toml"
    return "studies/" if own.exists() else ""


def write_page(folder: Path, report: Report) -> bool:
    """Writes report/index.html and report/figures/ into the folder; returns whether each figure could be drawn."""
    target = folder / "report"
    figures = target / "figures"
    drawn = (
        draw_all(report.rows, report.found, figures, report.png) if TEMPLATES else []
    )
    write_whole(target / "index.html", to_html(report, drawn))
    return not any(figure.problem for figure in drawn)


def draw_all(
    rows: list[Row], found: Findings, folder: Path, png: bool = False
) -> list[Drawn]:
    """Every figure that the data allow, written to the folder anew."""
    shutil.rmtree(folder, ignore_errors=True)
    if not available():
        return []
    folder.mkdir(parents=True)
    figures: dict[str, Figure] = {}
    for figure in all_figures(rows, found):
        name, number = figure.slug, 2
        while name in figures:
            name, number = f"{figure.slug}-{number}", number + 1
        figures[name] = figure
    names = list(figures)

    def draw(place: int) -> tuple[str, str]:
        name = names[place]
        try:
            return render(figures[name], name, folder, prefix(place), png), ""
        except BROKEN as error:  # one failing figure must not prevent the page
            return "", f"{type(error).__name__}: {error}"

    drawn = []
    for place, (svg, problem) in enumerate(side_by_side(draw, len(names))):
        figure = figures[names[place]]
        if problem:
            complain(f"{figure.title}: not drawn: {problem}")
        drawn.append(Drawn(figure, names[place], prefix(place), svg, problem))
    return drawn


def prefix(place: int) -> str:
    """How the ids of a figure begin: short, as they are many."""
    return f"f{place}"


def sections(drawn: list[Drawn]) -> dict[str, list[Drawn]]:
    """Figures by algorithm, those of all algorithms first."""
    found: dict[str, list[Drawn]] = {}
    for one in sorted(drawn, key=lambda one: one.figure.algorithm):
        found.setdefault(one.figure.algorithm, []).append(one)
    return found


def choices(lines: list[cells.Line]) -> dict[str, list[str]]:
    """The options of the filters."""
    models = sorted({model for line in lines for model in line.models.split()})
    return {
        "algorithm": sorted({line.algorithm for line in lines}),
        "device": sorted({line.device for line in lines}),
        "model": models,
        "verdict": sorted({line.verdict for line in lines if line.verdict}),
    }


def limits(rows: list[Row]) -> str:
    """Which cases have no % of roofline although peaks were measured, and why; empty where all have."""
    counts = Counter(row.limit for row in rows)
    told = (f"{counts[key]} {text}" for key, text in LIMITS.items() if counts[key])
    return "; ".join(told)


@cache
def template() -> jinja2.Template:
    """The page's template: compiling takes longer than rendering."""
    loader = jinja2.FileSystemLoader(HERE)
    page = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return page.get_template("page.html.jinja")


def to_html(report: Report, drawn: list[Drawn]) -> str:
    """The page; without Jinja2, the Markdown text as it is."""
    if not TEMPLATES:
        return PLAIN.format(text=html.escape(report.markdown))
    answer = cells.answer(report.found.gaps, report.rows, report.margin)
    every = cells.every_case(of_study(report.rows))
    contexts = all_contexts(report.cases)
    told = set(preflight(report.cases))
    svgs, css, hatches = share(one.svg for one in drawn)
    drawn = [replace(one, svg=svg) for one, svg in zip(drawn, svgs)]
    return template().render(
        report=report,
        tables={
            "answer": cells.table(cells.ANSWER, answer),
            "gap": cells.table(
                cells.GAP, cells.factor_lines(report.found.gaps, answer)
            ),
            "cases": cells.table(cells.ALL, every),
            "shapes": cells.table(
                shape_texts.COLUMNS, cells.shapes(report.found.shapes)
            ),
            "trainings": cells.table(
                learning.COLUMNS, cells.trainings(report.found.trainings)
            ),
        },
        limits=limits(of_study(report.rows)),
        accuracy=table.ACCURACY,
        tiers=gap_texts.TIERS_TEXT,
        definitions=gap_texts.DEFINITIONS,
        bounds=shape_texts.BOUNDS,
        goals=[(study.device, study.goals) for study in report.found.shapes],
        filters=choices(answer + every),
        folded=FOLDED,
        remarks=[text for text in report.remarks if text not in told],
        warnings=warnings.kinds(contexts),
        css=css,
        hatches=hatches,
        sections=sections(drawn),
        no_figures="" if available() else NO_FIGURES,
        facts=machine.merged(context.facts for context in contexts),
        dates=sorted({context.date for context in contexts if context.date}),
        launches=len({context.launch_id for context in contexts}),
        nulls=report.found.nulls,
        findings=report.found.texts(),
        shown=SHOWN,
    )
