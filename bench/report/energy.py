# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks energies: mean power by the counter against the driver's own power readings.

``python3 -m bench.report.energy DIR...`` prints a line per launch of each case; its exit code is 1 where one is off
by more than 3 %, or nothing could be compared.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .case import Case
from .merge import load
from .terminal import show

LIMIT = 0.03


def off(counted: float, read: float) -> float:
    """By how much the counter differs from power x time, relative to that."""
    return counted / read - 1


def lines(cases: list[Case]) -> tuple[list[str], bool]:
    """What is printed, and whether all agree."""
    found, agree = [], True
    for case in cases:
        for power in case.powers:
            if not power.read:
                continue
            apart = off(power.counted, power.read)
            agree = agree and abs(apart) <= LIMIT
            word = "" if abs(apart) <= LIMIT else f"  beyond {100 * LIMIT:.0f} %"
            texts = f"{power.counted:8.1f} W counted  {power.read:8.1f} W read  {100 * apart:+6.2f} %"
            found.append(f"{texts}  {case.name}{word}")
    return found, agree and bool(found)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="bench.report.energy", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="as of bench.report")
    cases, problems = load(parser.parse_args().folders)
    found, agree = lines(cases)
    for text in [*problems, *found, *([] if found else ["no case has both figures"])]:
        show(f"{text}\n")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
