# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of ``python3 -m bench.campaign``."""

from __future__ import annotations

import argparse
from pathlib import Path

from .errors import BadInput

# of league, given by the campaign itself
OURS = ("--records", "--resume", "--comparison", "--dry-run", "--python", "--peers")
EPILOG = "Exit codes: 0; 1 a row FAILED or something is missing; 2 bad input; 130 interrupted."


def positive(word: str) -> int:
    """A whole number from 1 on."""
    value = int(word)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{word}: takes a number from 1 on")
    return value


def minutes(word: str) -> float:
    """A positive number of minutes."""
    value = float(word)
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{word}: takes a positive number of minutes")
    return value


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="python3 -m bench.campaign",
        description="Studies in several launches, in slices of a few minutes.",
        epilog=EPILOG,
    )
    modes = made.add_subparsers(dest="mode", required=True, metavar="COMMAND")
    planned = modes.add_parser(
        "plan",
        epilog=EPILOG,
        help="write the plan into DIR, and print GPU minutes per slice",
    )
    running = modes.add_parser(
        "run",
        epilog=EPILOG,
        help="measure slices on this host; goes on where it was interrupted",
    )
    shown = modes.add_parser(
        "status", epilog=EPILOG, help="what is recorded, and what is missing"
    )
    collected = modes.add_parser(
        "collect", epilog=EPILOG, help="put the records of all slices into one file"
    )
    for one in (planned, running, shown, collected):
        one.add_argument(
            "folder", type=Path, metavar="DIR", help="folder of the campaign"
        )
    add = planned.add_argument
    add(
        "studies",
        nargs="+",
        metavar="STUDY",
        help="a TOML file; options of `league run` for all follow --",
    )
    add("--executable", required=True, help="the league to measure with")
    add("--python", default="", help="interpreter of the Python peers (default: none)")
    add(
        "--launches",
        type=positive,
        default=5,
        help="of the program, for each comparison (default: 5)",
    )
    add(
        "--minutes", type=minutes, default=10.0, help="of a slice at most (default: 10)"
    )
    add(
        "--total",
        type=minutes,
        help="GPU minutes at most: cuts launches of what takes longest",
    )
    add(
        "--times",
        type=Path,
        action="append",
        default=[],
        metavar="RESULTS",
        help="records that say how long comparisons take",
    )
    running.add_argument(
        "--slice",
        type=positive,
        action="append",
        dest="slices",
        help="its number (default: all that are not done)",
    )
    running.add_argument(
        "--executable", default="", help="the same file in another place"
    )
    running.add_argument(
        "--python", default="", help="the plan's interpreter in another place"
    )
    collected.add_argument(
        "--output", type=Path, required=True, help="as bench/results/h200"
    )
    collected.add_argument(
        "--launches",
        type=positive,
        help="that each row must have (default: as planned)",
    )
    return made


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Our words, and League's behind ``--``; raises BadInput."""
    at = argv.index("--") if "--" in argv else len(argv)
    for word in argv[at + 1 :]:
        name = word.split("=")[0]
        if name in OURS or name.startswith("--benchmark_"):
            raise BadInput(f"{name} is not to be given to league: the campaign does it")
    return argv[:at], argv[at + 1 :]


def parse(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Our options, and those of ``league run``; raises BadInput."""
    words, league_options = split(argv)
    options = parser().parse_args(words)
    if league_options and options.mode != "plan":
        raise BadInput("options behind -- belong to `plan`, which keeps them")
    return options, league_options
