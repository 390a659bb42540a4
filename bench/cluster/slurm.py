# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slurm's commands: sbatch and squeue. No accounting is needed."""

from __future__ import annotations

import getpass
import shutil
import subprocess
from dataclasses import dataclass

from .errors import BadInput


@dataclass(frozen=True)
class Job:
    """A job in the queue: of an array, one task."""

    id: int  # of the array, where it is of one
    task: int | None
    state: str  # PENDING, RUNNING, ...
    reason: str


def need_slurm() -> None:
    """Raises BadInput where there is none."""
    if not shutil.which("sbatch"):
        raise BadInput(
            "no sbatch on this machine: run it on a login node of a Slurm cluster, or look at the scripts with --dry-run"
        )


def run(command: list[str], stdin: str = "") -> str:
    """What the command printed; raises BadInput with its message."""
    try:
        done = subprocess.run(
            command, input=stdin, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise BadInput(f"{command[0]}: {error.strerror}") from error
    if done.returncode:
        raise BadInput(
            f"{command[0]}: {done.stderr.strip() or done.stdout.strip() or done.returncode}"
        )
    return done.stdout


def submit(*words: str) -> int:
    """The id of the new job."""
    return int(run(["sbatch", "--parsable", *words]).split(";")[0])


def queue() -> list[Job]:
    """The user's jobs that wait or run."""
    command = ["squeue", "--noheader", "--array", "--format=%F|%K|%T|%r"]
    jobs = []
    for line in run([*command, f"--user={getpass.getuser()}"]).splitlines():
        number, task, state, reason = line.split("|", 3)
        jobs.append(
            Job(int(number), int(task) if task.isdigit() else None, state, reason)
        )
    return jobs
