# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of ``bench/cluster/submit``."""

from __future__ import annotations

import argparse
from pathlib import Path

from .errors import BadInput

OURS = ("--records", "--resume", "--devices", "--dry-run", "--profile", "--sample")
USAGE = """submit STUDY --site FILE [options] [-- LEAGUE OPTIONS]
       submit --status DIR | --resume DIR | --merge DIR  [--wait]"""
EPILOG = "Exit codes: 0; 1 a launch failed or is not finished; 2 bad input."


def counts(text: str) -> list[int]:
    """``1,2,4``."""
    values = [int(word) for word in text.split(",")]
    if min(values) < 1:
        raise argparse.ArgumentTypeError(f"{text}: numbers from 1 on, as 1,2,4")
    return values


def positive(text: str) -> int:
    """One number from 1 on."""
    (value,) = counts(text)
    return value


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="submit",
        usage=USAGE,
        description="Runs a study on many nodes of a Slurm cluster, and reports it.",
        epilog=EPILOG,
    )
    made.add_argument("study", nargs="?", type=Path, metavar="STUDY")
    made.add_argument(
        "--site", type=Path, help="what is to know of the cluster (sites/*.toml)"
    )
    made.add_argument(
        "--nodes", type=counts, default=[1], help="a job for each: 1,2,4 (default: 1)"
    )
    made.add_argument(
        "--gpus-per-node",
        type=counts,
        default=[],
        help="of several (1,2,4) all on one node, the largest on more (default: the site's)",
    )
    made.add_argument(
        "--ranks-per-node",
        type=positive,
        default=0,
        help="(default: the site's, or one per GPU)",
    )
    made.add_argument(
        "--repeat", type=positive, default=1, help="launches at each size (default: 1)"
    )
    made.add_argument(
        "--output",
        type=Path,
        help="on a file system that all nodes see (default: build/results/cluster/STUDY's name)",
    )
    made.add_argument("--executable", type=Path, help="(default: the site's)")
    made.add_argument("--time", help="of a job, instead of the estimate: 1:30:00")
    made.add_argument(
        "--dry-run", action="store_true", help="print the job scripts, submit nothing"
    )
    made.add_argument("--wait", action="store_true", help="until all jobs have ended")
    modes = made.add_mutually_exclusive_group()
    modes.add_argument(
        "--status",
        type=Path,
        metavar="DIR",
        help="how far the launches in a folder are",
    )
    modes.add_argument(
        "--resume", type=Path, metavar="DIR", help="submit again what is not finished"
    )
    modes.add_argument(
        "--merge",
        type=Path,
        metavar="DIR",
        help="report what is there, on this machine",
    )
    return made


def split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Our arguments, and League's behind ``--``."""
    ours, theirs = (
        (argv[: argv.index("--")], argv[argv.index("--") + 1 :])
        if "--" in argv
        else (argv, [])
    )
    for option in theirs:
        if option.split("=")[0] in OURS:
            raise BadInput(
                f"{option.split('=')[0]} is not to be given to league: submit does it"
            )
    return ours, theirs


def parse(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Our options, and those of ``league run``."""
    ours, theirs = split(argv)
    return parser().parse_args(ours), theirs
