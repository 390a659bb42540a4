# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of a launch: League's own estimate, and the time that a job requests."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .errors import BadInput
from .site_file import Site

LAST = re.compile(r"(\d+) cases, (?:at most )?about ([\d.]+) (s|min|h)")
UNITS = {"s": 1, "min": 60, "h": 3600}
BLIND = "no GPU answers"  # a login node without them: the nodes have some
INSTEAD = "; give the time of a job instead: --time 1:00:00"


@dataclass(frozen=True)
class Estimate:
    """Estimate of one launch on one device; several take less."""

    seconds: float
    cases: int
    unseen: int  # cases that cannot be estimated here

    @property
    def whole_s(self) -> float:
        """Total [s]; cases without an estimate count with the mean of the others."""
        return self.seconds * self.cases / (self.cases - self.unseen)


def estimate(executable: Path, study: Path, options: list[str]) -> Estimate:
    """Asks ``league run --dry-run``; raises BadInput, with what it said."""
    command = [
        str(executable),
        "run",
        str(study),
        *options,
        "--devices",
        "1",
        "--dry-run",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BadInput(f"{executable}: {error.strerror}") from error
    return parsed(
        done.stdout, (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
    )


def parsed(said: str, wrong: str) -> Estimate:
    """The estimate in what League printed; else raises BadInput with what went wrong."""
    lines = said.strip().splitlines()
    found = LAST.fullmatch(lines[-1]) if lines else None
    if not found:
        raise BadInput(f"no estimate from `league run --dry-run`: {wrong}{INSTEAD}")
    cases, unseen = int(found[1]), sum(line.endswith(BLIND) for line in lines)
    if unseen == cases:
        raise BadInput(
            f"no estimate: no GPU answers here, and no case runs without{INSTEAD}"
        )
    return Estimate(float(found[2]) * UNITS[found[3]], cases, unseen)


def walltime(site: Site, estimated: Estimate) -> tuple[float, str]:
    """The time of a job [s], and a remark on it."""
    wanted = site.startup_s + site.safety * estimated.whole_s + site.grace_s
    remark = ""
    if estimated.unseen:
        remark = f"; {estimated.unseen} of {estimated.cases} cases have no estimate on a machine without a GPU: taken as the average"
    if wanted > site.max_s:
        remark = f"; a launch may take longer than a job of this site: it is then resumed, at most {site.resumes} times"
    return min(wanted, site.max_s), remark
