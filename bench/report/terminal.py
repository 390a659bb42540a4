# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table for a terminal: aligned, at most as wide as the screen."""

from __future__ import annotations

import io
import os
import shutil
import sys
import textwrap
from typing import TextIO

from .view import COLUMNS, DETECTABLE, METRICS, NUMBERS, Group

MIN_SCREEN, MAX_SCREEN, USUAL = 120, 160, 140
SUMMARY = 80, MAX_SCREEN  # columns of the winners alone
MAX_WIDTHS = {"method": 16, "model": 14, "on": 14, "launch": 24}
SHOWN = [c for c in COLUMNS if c not in ("latency", DETECTABLE, METRICS, "note")]
COLOURS = {"faster": "32", "slower": "33", "FAILED": "31;1", "skipped": "2"}


def screen_width(minimum: int = MIN_SCREEN, maximum: int = MAX_SCREEN) -> int:
    """Columns to fill."""
    columns = shutil.get_terminal_size((USUAL, 24)).columns
    return min(max(columns, minimum), maximum)


def wants_colour(stream: TextIO) -> bool:
    """Colour only on a terminal that did not decline it."""
    plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return not plain and hasattr(stream, "isatty") and stream.isatty()


def show(text: str, stream: TextIO | None = None) -> None:
    """Prints a text; characters that the terminal cannot show are replaced.

    A closed stream takes nothing. Where it cannot be written, as on a full disk, the program ends.
    """
    stream = stream or sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
    try:
        if stream is not None:
            stream.write(text)
            stream.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # flushed at exit
        sys.exit(f"bench.report: cannot print: {error.strerror}")


def complain(problem: str, program: str = "bench.report") -> None:
    """Prints an error as one line on stderr."""
    show(f"{program}: {problem}\n", sys.stderr)


def shorten(text: str, width: int) -> str:
    """Cut to the width; two points show where."""
    return text if len(text) <= width else text[: width - 2] + ".."


def coloured(text: str, verdict: str, colour: bool) -> str:
    """In the colour of its verdict, where that has one."""
    code = COLOURS.get(verdict) if colour else None
    return f"\033[{code}m{text}\033[0m" if code else text


def column_widths(groups: list[Group]) -> dict[str, int]:
    """As wide as the longest cell, within limits; empty columns take nothing."""
    widths = {}
    for column in SHOWN:
        longest = max((len(r[column]) for g in groups for r in g.rows), default=0)
        if longest:
            width = max(longest, len(column))
            widths[column] = min(width, MAX_WIDTHS.get(column, width))
    return widths


def line(row: dict[str, str], widths: dict[str, int]) -> str:
    """The cells of a row, padded."""
    cells = []
    for column, width in widths.items():
        text = shorten(row[column], width)
        right = column in NUMBERS and column != "median [95 %]"
        cells.append(text.rjust(width) if right else text.ljust(width))
    return "  ".join(cells)


def lines_of(
    row: dict[str, str], widths: dict[str, int], width: int, colour: bool
) -> list[str]:
    """A row; its note and metrics follow where they fit, else on lines of their own."""
    text = line(row, widths)
    note = "; ".join(filter(None, [row["note"], row[METRICS]]))
    if len(text) + 2 + len(note) <= width:
        lines = [f"{text}  {note}".rstrip()]
    else:
        wrapped = textwrap.wrap(note, width - 6, break_on_hyphens=False)
        lines = [text.rstrip()] + ["      " + part for part in wrapped]
    return [coloured(part, row["verdict"], colour) for part in lines]


def to_terminal(
    headline: str,
    groups: list[Group],
    remarks: list[str],
    findings: list[str],
    width: int = USUAL,
    colour: bool = False,
) -> str:
    """The whole table."""
    strong = ("\033[1m", "\033[0m") if colour else ("", "")
    lines = textwrap.wrap(headline, width)
    for text in remarks:
        lines += textwrap.wrap(f"preflight: {text}", width, subsequent_indent="  ")
    widths = column_widths(groups)
    head = line({column: column for column in COLUMNS}, widths).rstrip()
    for group in groups:
        title = textwrap.wrap(group.title, width)
        lines += ["", *[strong[0] + part + strong[1] for part in title], head]
        for row in group.rows:
            lines += lines_of(row, widths, width, colour)
    lines += [""] if findings else []
    for text in findings:
        lines += textwrap.wrap(text, width, subsequent_indent="  ")
    return "\n".join(lines) + "\n"
