# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.report DIR [DIR...]``: the league table of folders of records.

``python3 -m bench.report compare A B`` puts two of them side by side instead.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from . import builds, compare, hosts, noise, sources, statistics, terminal
from .files import write_whole
from .findings import analyse
from .lines import BadLines, Build, read
from .merge import load
from .p3 import to_coverage, to_p3
from .page import Report, write_page
from .rows import Row, build_rows, impossible_rows
from .selection import of_study
from .table import records, to_csv, to_markdown
from .terminal import complain, show
from .view import Group, groups, headline, preflight
from .winners import not_run, skipped, to_summary

EPILOG = """portable / native = median portable time / median native time: above 1, portable is
slower. verdict: same when the whole 95 % interval lies within the margin, else faster,
slower or unresolved (the interval holds 1). roofline: the shortest time that the measured
peaks of the device allow the method and (in brackets) the problem, over the median time. `compare A B` puts two folders side by side: see
`compare --help`. Exit codes: 0; 1 when a record was left out, a run is not finished, a case
took less time than its bound allows or no row is left; 2 for bad input."""


def margin(text: str) -> float:
    """A share between 0 and 1."""
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a share in [0, 1)")
    return value


def arguments(argv: list[str]) -> argparse.Namespace:
    """The command line, checked."""
    parser = argparse.ArgumentParser(
        prog="python3 -m bench.report",
        description="Reads DIR/records/*.json, packed (records.jsonl.xz) or not, several folders (launches) as one, and "
        "writes table.md, table.csv, p3.csv and report/index.html into the first folder, with "
        "--lines coverage.csv too.",
        epilog=EPILOG,
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--output", type=Path, help="write here, not into the first")
    parser.add_argument("--margin", type=margin, default=statistics.MARGIN)
    parser.add_argument(
        "--pool-hosts",
        action="store_true",
        help="take samples of GPUs of one name on several hosts as launches of one row, "
        "whose note says how far the hosts are apart (default: rows of their own)",
    )
    parser.add_argument(
        "--lines",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="lines with machine code, of python3 -m bench.lines: for code convergence",
    )
    parser.add_argument(
        "--png",
        action="store_true",
        help="write the figures as PNG too, half as long again",
    )
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--quiet", action="store_true", help="print no table")
    parser.add_argument(
        "--verbose", action="store_true", help="print every case, not only the winners"
    )
    parser.add_argument(
        "--show-skipped", action="store_true", help="print what did not run and why"
    )
    options = parser.parse_args(argv)
    for folder in options.folders:
        if not sources.exists(folder):
            parser.error(f"{folder}: no such folder")
    return options


def write(
    folder: Path, report: Report, own: list[Row], lines: dict[str, Build]
) -> None:
    """The tables and the page, each a whole file or none."""
    write_whole(folder / "table.md", report.markdown)
    write_whole(folder / "table.csv", to_csv(own, report.found.gaps))
    write_whole(folder / "p3.csv", to_p3(report.rows, lines))
    if lines:
        write_whole(folder / "coverage.csv", to_coverage(report.rows, lines))
    write_page(folder, report)


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
    sys.stdout.flush()
    known = skipped(own) if options.show_skipped else [not_run(own)]
    pages = f"{folder}/report/index.html, {folder}/table.md, {folder}/table.csv"
    where = ", ".join(sources.shown(Path(name)) for name in report.folders)
    lines = [*filter(None, known), f"report: {pages}; records: {where}"]
    show("\n".join(lines) + "\n", sys.stderr)


def main(argv: list[str]) -> int:
    """Returns the exit code."""
    if argv[:1] == ["compare"]:
        return compare.main(argv[1:], margin)
    options = arguments(argv)
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
        write(folder, report, own, lines)
    except OSError as error:
        complain(f"cannot write the table: {error}")
        return 1
    tell(options, report, shown[1], own, folder)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
