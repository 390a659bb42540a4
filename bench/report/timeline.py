# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timelines of traced computes, as text: a line per device and stage, on one clock.

The clock of each device is related to the host's by one event, with an error of a few
microseconds: shorter gaps between devices mean nothing.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .case import Case, Event
from .merge import load
from .terminal import complain, show
from .units import seconds

WIDTH = 72


def bar(events: list[Event], first: float, scale: float) -> str:
    """The times of these events as ``#``, each at least one of them wide."""
    cells = [" "] * WIDTH
    for event in events:
        begin = min(round((event.begin_s - first) * scale), WIDTH - 1)
        end = max(begin + 1, round((event.end_s - first) * scale))
        cells[begin:end] = "#" * (end - begin)
    return "".join(cells).rstrip()


def draw(case: Case) -> str:
    """The timeline of one case, which has one."""
    first = min(event.begin_s for event in case.timeline)
    whole = max(event.end_s for event in case.timeline) - first
    lines: dict[tuple[int, str], list[Event]] = {}
    for event in case.timeline:
        beside = " (beside)" if event.queue else ""
        lines.setdefault((event.device, event.stage + beside), []).append(event)
    wide = max(len(stage) for _, stage in lines)
    text = f"{case.name} on {case.device_name}: {seconds(whole)}\n"
    for (device, stage), events in sorted(lines.items(), key=lambda line: line[0][0]):
        busy = sum(event.end_s - event.begin_s for event in events)
        shown = bar(events, first, WIDTH / whole if whole > 0 else 0.0)
        text += f"  {device} {stage:{wide}} {seconds(busy):>8} |{shown:{WIDTH}}|\n"
    return text


def main(argv: list[str]) -> int:
    """Returns the exit code: 1 where no case has a timeline."""
    parser = argparse.ArgumentParser(prog="python3 -m bench.report.timeline")
    parser.add_argument("directories", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--only", default="", help="cases whose names have this text")
    options = parser.parse_args(argv)
    cases, problems = load(options.directories)
    for problem in problems:
        complain(problem)
    drawn = [draw(c) for c in cases if c.timeline and options.only in c.name]
    show("\n".join(drawn))
    return int(not drawn)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
