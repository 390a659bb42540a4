# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The league table of folders of records: from their files to tables and page."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from . import builds, hosts, metric_texts, noise, sources, terminal
from .files import write_whole
from .findings import analyse
from .lines import BadLines, Build, add_metrics, read
from .merge import load
from .p3 import to_coverage, to_p3
from .page import Report, write_page
from .rows import Row, build_rows, impossible_rows
from .selection import of_study
from .table import records, to_csv, to_markdown
from .terminal import complain, show
from .view import Group, groups, headline, preflight
from .winners import not_run, skipped, to_summary


def write(
    folder: Path, report: Report, own: list[Row], lines: dict[str, Build]
) -> bool:
    """The tables and the page, each a whole file or none; returns whether the page has all figures."""
    write_whole(folder / "table.md", report.markdown)
    write_whole(folder / "table.csv", to_csv(own, report.found.gaps))
    write_whole(folder / "p3.csv", to_p3(report.rows, lines))
    if lines:
        write_whole(folder / "coverage.csv", to_coverage(report.rows, lines))
    return write_page(folder, report)


def tell(
    options: argparse.Namespace,
    report: Report,
    every: list[Group],
    own: list[Row],
    folder: Path,
) -> None:
    """Prints the summary on stdout; on stderr the cases that did not run, and the files."""
    if options.json:
        show(json.dumps(records(own, report.found.gaps), indent=1) + "\n")
    if options.json or options.quiet:
        return
    colour, remarks, found = (
        terminal.wants_colour(sys.stdout),
        report.remarks,
        report.found,
    )
    if options.verbose or not found.gaps:  # without gaps there are no winners
        texts = (report.headline, every, remarks, found.texts())
        show(terminal.to_terminal(*texts, terminal.screen_width(), colour))
    else:
        width = terminal.screen_width(*terminal.SUMMARY)
        show(to_summary(report.headline, remarks, found, report.rows, width, colour))
    known = skipped(own) if options.show_skipped else [not_run(own)]
    pages = f"{folder}/report/index.html, {folder}/table.md, {folder}/table.csv"
    where = ", ".join(sources.shown(Path(name)) for name in report.folders)
    lines = [*filter(None, known), f"report: {pages}; records: {where}"]
    show("\n".join(lines) + "\n", sys.stderr)


def run(options: argparse.Namespace) -> int:
    """Reports as the options say; returns the exit code."""
    try:
        lines = read(options.lines)
    except BadLines as error:
        complain(str(error))
        return 2
    cases, problems = load(options.folders, pool=options.pool_hosts)
    for problem in problems:
        complain(problem)
    if not cases:
        complain("no record could be read, so no table")
        return 1
    add_metrics(cases, lines)
    rows = build_rows(cases, options.margin)
    for problem in (too_fast := impossible_rows(rows)):
        complain(problem)
    problems += too_fast
    found = analyse(rows, options.margin, lines)
    own = of_study(rows) or rows  # of a search alone, its candidates
    remarks = [
        *builds.texts(cases),
        *hosts.texts(cases),
        *noise.texts(rows, found.nulls, options.margin),
        *metric_texts.marked(row.case for row in own),
        *preflight(cases),
    ]
    shown = (headline(cases), groups(own), remarks, found.texts())
    report = Report(
        headline=shown[0],
        problems=problems,
        remarks=shown[2],
        found=found,
        cases=cases,
        rows=rows,
        margin=options.margin,
        markdown=to_markdown(
            *shown, found.gaps, problems, found.trainings, found.shapes
        ),
        folders=tuple(map(str, options.folders)),
        png=options.png,
    )
    folder = options.output or sources.place(options.folders[0])
    try:
        whole = write(folder, report, own, lines)
    except OSError as error:
        complain(f"cannot write the table: {error}")
        return 1
    tell(options, report, shown[1], own, folder)
    return 0 if whole and not problems else 1
