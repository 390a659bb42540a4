# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A folder of launches at several sizes: its jobs, and the state of each launch.

``DIR/campaign.json`` names the sizes and their jobs; ``DIR/2x4/0`` is the first launch on two nodes with four GPUs each.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..report.files import write_whole
from .errors import BadInput
from .slurm import Job

NAME = "campaign.json"
INTERRUPTED = 130


@dataclass
class Campaign:
    """What was submitted into a folder."""

    study: str
    python: str  # the interpreter of the report
    repeats: dict[str, int] = field(default_factory=dict)  # launches by size
    jobs: dict[str, list[int]] = field(
        default_factory=dict
    )  # by size; the last resumes the first
    reports: list[int] = field(default_factory=list)  # jobs too

    def all_jobs(self) -> set[int]:
        """Ids of all jobs of the campaign."""
        return {job for jobs in self.jobs.values() for job in jobs} | set(self.reports)

    def folders(self, folder: Path) -> list[Path]:
        """The folders of all launches."""
        pairs = self.repeats.items()
        return [folder / size / str(i) for size, repeat in pairs for i in range(repeat)]

    def save(self, folder: Path) -> None:
        """Writes campaign.json into its folder."""
        write_whole(folder / NAME, json.dumps(asdict(self), indent=1) + "\n")


def read(folder: Path) -> Campaign:
    """Raises BadInput where nothing was submitted."""
    try:
        content: Any = json.loads((folder / NAME).read_text(encoding="utf-8"))
        return Campaign(**content)
    except OSError as error:
        raise BadInput(
            f"{folder} holds no {NAME}: nothing was submitted into it"
        ) from error
    except (TypeError, ValueError) as error:
        raise BadInput(f"{folder / NAME}: {error}") from error


@dataclass(frozen=True)
class Launch:
    """One launch of the program at one size."""

    folder: Path
    size: str
    number: int
    job: Job | None  # in the queue
    statuses: dict[str, int]  # rows: passed, skipped, failed
    gap: str  # why it is incomplete; empty where it is complete

    @property
    def finished(self) -> bool:
        """Whether every case has its row."""
        return not self.gap

    @property
    def failed(self) -> bool:
        """Whether a case failed, or records are incomplete and no job is left."""
        return bool(self.statuses.get("failed")) or bool(self.gap and not self.job)

    @property
    def exit_code(self) -> int | None:
        """The exit code of its last attempt; None before its end."""
        try:
            return int((self.folder / "exit_code").read_text())
        except (OSError, ValueError):
            return None

    @property
    def nodes(self) -> str:
        """The nodes of its records: it resumes only there; empty without records."""
        file = self.folder / "nodes"
        return file.read_text().strip() if self.statuses and file.exists() else ""

    @property
    def log(self) -> Path:
        """The log of its jobs."""
        return self.folder.parent / f"slurm-{self.number}.out"

    @property
    def text(self) -> str:
        """Its state, in words."""
        rows = ", ".join(
            f"{count} {'FAILED' if kind == 'failed' else kind}"
            for kind, count in sorted(self.statuses.items())
        )
        if self.job:
            reason = f", {self.job.reason}" if self.job.state == "PENDING" else ""
            return f"{self.job.state.lower()}{reason}" + (
                f"; so far {rows}" if rows else ""
            )
        if not self.gap:
            return f"done: {rows}"
        code = self.exit_code
        how = "out of time or cancelled" if code == INTERRUPTED else f"exit code {code}"
        if code is None:
            how = "no job of it is left"
        return f"not finished ({how}){': ' + rows if rows else ''}; see {self.log}"


def launches(folder: Path, campaign: Campaign, queue: list[Job]) -> list[Launch]:
    """All launches of a campaign, with the status of their records."""
    try:
        from ..report import merge  # needs packages, which a login node may lack
    except ImportError as error:
        text = f"reading records needs the Python package {error.name}"
        raise BadInput(f"{text}: start it with {campaign.python}") from error
    found = []
    for size, repeat in campaign.repeats.items():
        for number in range(repeat):
            place = folder / size / str(number)
            jobs = [
                job
                for job in queue
                if job.id in campaign.jobs[size] and job.task == number
            ]
            cases, problems = merge.load([place])
            found.append(
                Launch(
                    folder=place,
                    size=size,
                    number=number,
                    job=jobs[0] if jobs else None,
                    statuses=dict(Counter(case.status for case in cases)),
                    gap="; ".join(problems) or ("" if cases else "no records"),
                )
            )
    return found
