# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One slice on this host, with ``bench/run``: what is recorded already is not measured again."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import FrameType

from ..report.files import write_whole
from . import campaign
from .campaign import Campaign
from .errors import BadInput
from .progress import PART, Progress, folder_of, progress, read_wanted

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130


def executable_of(plan: Campaign, given: str) -> Path:
    """The program of the plan, perhaps in another place; raises BadInput for another build."""
    path = campaign.found(given or plan.executable, "executable")
    if campaign.hash_of(path) != plan.executable_hash:
        text = f"{path} is not the executable that the plan was made with"
        raise BadInput(
            f"{text}: a campaign is of one build. Give that one with --executable, or plan another campaign"
        )
    return path


def part_of(folder: Path, one: Progress, plan: Campaign) -> tuple[Path, list[str]]:
    """This host's folder of a slice, and its comparisons: those of its first call, else what is missing and the ceilings."""
    host = re.sub(r"[^\w.-]", "_", socket.gethostname()) or "host"
    part = folder_of(folder, one.number, one.study) / host
    if (part / PART).exists():
        return part, read_wanted(part)
    known = plan.comparisons[one.study]
    wanted = [n for n in one.wanted if known[n].ceilings or n in one.missing]
    write_whole(part / PART, json.dumps({"comparisons": wanted}, indent=1) + "\n")
    return part, wanted


def call(command: list[str]) -> int:
    """Runs a command to its end and passes signals on; returns its exit code."""
    with subprocess.Popen(command) as process:

        def pass_on(_number: int, _frame: FrameType | None) -> None:
            process.terminate()

        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, pass_on) for number in numbers}
        try:
            return process.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def run(
    folder: Path, plan: Campaign, number: int, executable: Path, python: str
) -> int:
    """Measures what is missing of a slice; returns the exit code."""
    worst = 0
    for one in progress(folder, plan, number):
        if not one.missing:
            continue
        study = campaign.found(plan.studies[one.study], "study")
        part, wanted = part_of(folder, one, plan)
        words = [word for name in wanted for word in ("--comparison", name)]
        words = ["--no-report", *plan.options, "--resume", *words]
        code = call(campaign.command(executable, python, study, part, words))
        if code not in (0, FAILED):
            return code if code in (BAD_INPUT, INTERRUPTED) else FAILED
        worst = max(worst, code)
    left = [name for one in progress(folder, plan, number) for name in one.missing]
    if left:
        print(
            f"campaign: slice {number}: still missing: {', '.join(left)}",
            file=sys.stderr,
        )
    return worst or int(bool(left))
