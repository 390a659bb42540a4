# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.lines BUILD...``: which source lines have machine code in these builds."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.report.files import write_whole
from bench.report.lines import BadLines, Build, Unit, read, to_json
from bench.report.terminal import complain, show

from .commands import BadBuild, commands
from .measure import Failed, measure
from .show import costs, table
from .tables import BadTable

PROGRAM = "bench.lines"
EPILOG = """Compiles each kernel file of a build folder once more, aside, with line tables, and
reads those. The folder needs to be configured only, and stays as it is; no GPU is needed.
Tables of all builds go to stdout. Exit codes: 0; 1 where a kernel does not compile or
--verify finds a difference; 2 for bad input."""


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog=f"python3 -m {PROGRAM}", description=__doc__, epilog=EPILOG
    )
    parser.add_argument(
        "builds",
        nargs="+",
        type=Path,
        metavar="BUILD",
        help="a build folder, or a file that --output wrote",
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write this file")
    for kind in ("algorithm", "model"):
        only = f"only this {kind}; several times for several"
        parser.add_argument(
            f"--{kind}", action="append", default=[], metavar="NAME", help=only
        )
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="compilers at a time (default: one for each processor)",
    )
    parser.add_argument(
        "--verify",
        action="store_true",
        help="compile each file without line tables too, and compare the machine code",
    )
    return parser.parse_args(argv)


def measured(folder: Path, options: argparse.Namespace) -> Build:
    """What a build folder has."""
    chosen = commands(folder, set(options.algorithm), set(options.model))
    name = folder.resolve().name

    def told(unit: Unit) -> None:
        show(f"{name}: {unit.source}: {len(unit.used)} lines\n", sys.stderr)

    return measure(name, chosen, max(1, options.jobs), options.verify, told)


def main(argv: Sequence[str]) -> int:
    """Returns the exit code."""
    options = arguments(argv)
    builds: dict[str, Build] = {}
    try:
        for one in options.builds:
            if one.is_dir():
                build = measured(one, options)
                builds[build.name] = build
            else:
                builds |= read([one])
    except (BadBuild, BadLines) as error:
        complain(str(error), PROGRAM)
        return 2
    except (BadTable, Failed) as error:
        complain(str(error), PROGRAM)
        return 1
    if options.output:
        try:
            write_whole(options.output, to_json(builds.values()) + "\n")
        except OSError as error:
            complain(f"cannot write {options.output}: {error}", PROGRAM)
            return 1
    show(f"{table(builds)}\n{costs(builds)}")
    changed = [
        unit for one in builds.values() for unit in one.units if unit.same_code is False
    ]
    for unit in changed:
        text = f"{unit.source} ({unit.model}): line tables change its machine code"
        complain(text, PROGRAM)
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
