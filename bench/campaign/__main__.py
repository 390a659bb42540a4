# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.campaign plan | run | status | collect DIR``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import campaign, plan, times
from .campaign import SLICES, Campaign, Planned
from .collect import COLLECTED, collect, failed_text
from .errors import BadInput
from .options import parse
from .progress import progress, text
from .run import executable_of, run


def say(message: str) -> None:
    """Prints a message to stderr."""
    print(f"campaign: {message}", file=sys.stderr, flush=True)


def require_new(made: Campaign, study: str, kept: dict[str, Planned]) -> None:
    """Raises BadInput for a comparison of two studies, which would be pooled; ceilings may be."""
    for other, known in made.comparisons.items():
        for name in (n for n, one in kept.items() if n in known and not one.ceilings):
            raise BadInput(
                f"{name} is in {other} and in {study}: their rows would be pooled. Plan two campaigns, or take it out of one study"
            )


def make(options: argparse.Namespace, league_options: list[str]) -> int:
    """Writes the plan and prints it; returns the exit code."""
    if (options.folder / SLICES).exists():
        raise BadInput(f"{options.folder} holds records of a plan: give another folder")
    executable = campaign.found(options.executable, "executable")
    made = Campaign(
        campaign.kept(executable),
        campaign.hash_of(executable),
        options.python,
        league_options,
        options.launches,
        options.minutes,
    )
    known = times.recorded(options.times)
    for given in options.studies:
        study = campaign.found(given, "study")
        if study.stem in made.studies:
            raise BadInput(f"{given}: two studies are named {study.stem}")
        found = times.foreseen(executable, options.python, study, league_options)
        kept = {}
        for one in found:
            name = one["comparison"]
            if planned := times.planned(one, known.get(name), options.launches):
                kept[name] = planned
        if not kept:
            raise BadInput(
                f"{given}: no case of it runs in this build: leave it out, or give another --executable"
            )
        require_new(made, study.stem, kept)
        made.studies[study.stem] = campaign.kept(study)
        made.comparisons[study.stem] = kept
    total_s = 60 * options.total if options.total else float("inf")
    made.slices = plan.cut(
        made.comparisons, options.launches, 60 * options.minutes, total_s
    )
    made.save(options.folder)
    print(plan.table(made), end="")
    return 0


def measure(options: argparse.Namespace, made: Campaign) -> int:
    """Runs slices until one cannot go on; returns the exit code."""
    wrong = [n for n in options.slices or [] if n > len(made.slices)]
    if wrong:
        raise BadInput(
            f"--slice {wrong[0]}: the plan has slices 1 to {len(made.slices)}"
        )
    executable = executable_of(made, options.executable)
    python = options.python or made.python
    worst = 0
    for number in options.slices or range(1, len(made.slices) + 1):
        code = run(options.folder, made, number, executable, python)
        if code > 1:
            return code
        worst = max(worst, code)
    return worst


def show(folder: Path, made: Campaign) -> int:
    """Prints what is recorded; returns the exit code."""
    left, left_s, failed = 0, 0.0, False
    for number, one in enumerate(made.slices, 1):
        found = progress(folder, made, number)
        print(text(found))
        failed |= any(study.failed for study in found)
        if any(study.missing for study in found):
            left, left_s = left + 1, left_s + one.seconds
    print(
        f"{len(made.slices) - left} of {len(made.slices)} slices are done; the others take about {left_s / 60:.1f} GPU minutes"
    )
    return int(failed or left > 0)


def gather(options: argparse.Namespace, made: Campaign) -> int:
    """Collects the records; returns the exit code."""
    count, failed = collect(
        options.folder, made, options.output, options.launches or made.launches
    )
    say(
        f"{count} records in {options.output / COLLECTED}; `python3 -m bench.report --pool-hosts {options.output}` draws the tables"
    )
    if failed:
        say(failed_text(failed))
    return int(bool(failed))


def main(argv: list[str]) -> int:
    """Returns the exit code."""
    try:
        options, league_options = parse(argv)
        if options.mode == "plan":
            return make(options, league_options)
        made = campaign.read(options.folder)
        if options.mode == "run":
            return measure(options, made)
        if options.mode == "status":
            return show(options.folder, made)
        return gather(options, made)
    except BadInput as error:
        say(str(error))
        return 2
    except OSError as error:
        say(str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
