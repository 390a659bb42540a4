# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command lines of ``python3 -m bench.report``, with the standard library alone."""

from __future__ import annotations

import argparse
from pathlib import Path

MARGIN = 0.02  # two times within 2 % are called the same
PACKED = ".jsonl.xz"
REPORT = """portable / native = median portable time / median native time: above 1, portable is
slower. verdict: same when the whole 95 % interval lies within the margin, else faster,
slower or unresolved (the interval holds 1). roofline: the shortest time that the measured
peaks of the device allow the method and (in brackets) the problem, over the median time. `compare A B` puts two folders side by side: see
`compare --help`. Exit codes: 0; 1 when a record was left out, a run is not finished, a case
took less time than its bound allows or no row is left; 2 for bad input."""
COMPARISON = """B / A = median time in B / median time in A: above 1, B is slower. A
regression is slower by more than the margin with the whole 95 % interval above 1, or
failed in B alone, or missing in B though it passed in A. The margin is --margin, or the
spread between the two runs on devices of one name where that is larger. detectable: the
smallest difference that the verdict would find with a probability of 80 %. Exit codes: 0; 1 when a record
was left out, a run is not finished or no case is in both, and with --fail-on-regression
when there is a regression; 2 for bad input."""


def margin(text: str) -> float:
    """A share between 0 and 1."""
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a share in [0, 1)")
    return value


def folder(text: str) -> Path:
    """A folder of records, or a packed file of them."""
    path = Path(text)
    if not (path.is_file() if path.name.endswith(PACKED) else path.is_dir()):
        raise argparse.ArgumentTypeError(f"{text}: no such folder")
    return path


def report() -> argparse.ArgumentParser:
    """The command line of a report."""
    parser = argparse.ArgumentParser(
        prog="python3 -m bench.report",
        description="Reads DIR/records/*.json, packed (records.jsonl.xz) or not, several folders (launches) as one, and "
        "writes table.md, table.csv, p3.csv and report/index.html into the first folder, with "
        "--lines coverage.csv too.",
        epilog=REPORT,
    )
    parser.add_argument("folders", nargs="+", type=folder, metavar="DIR")
    parser.add_argument("--output", type=Path, help="write here, not into the first")
    parser.add_argument("--margin", type=margin, default=MARGIN)
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
        help="what python3 -m bench.lines wrote: for code convergence, what lines buy, and why Kokkos is slower",
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
    return parser


def comparison() -> argparse.ArgumentParser:
    """The command line of a comparison of two folders."""
    parser = argparse.ArgumentParser(
        prog="python3 -m bench.report compare",
        description="Compares the records of two folders, packed or not, case by case.",
        epilog=COMPARISON,
    )
    parser.add_argument("a", type=folder, metavar="A", help="folder of the earlier run")
    parser.add_argument("b", type=folder, metavar="B", help="folder of the later run")
    parser.add_argument("--margin", type=margin, default=MARGIN)
    parser.add_argument("--fail-on-regression", action="store_true")
    parser.add_argument(
        "--pool-hosts",
        action="store_true",
        help="within A and within B, take samples of GPUs of one name on several hosts together",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--markdown", action="store_true")
    form.add_argument("--csv", action="store_true")
    return parser
