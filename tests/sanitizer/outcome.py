# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a unit came to: the tool's counts from its output, the cases from the records of league."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ERRORS = re.compile(r"={3,} ERROR SUMMARY: (\d+) error")
HAZARDS = re.compile(
    r"={3,} RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?, (\d+) warnings?\)"
)
INTERNAL = re.compile(r"Internal Sanitizer Error|Internal error encountered")
HEAD = re.compile(r"^={3,} (\S.*)$")  # a finding; the lines below it are indented
PLACE = re.compile(r"^={3,} {2,}(?:at|by|in) (.*)$")
NO_FINDING = re.compile(
    r"COMPUTE-SANITIZER|.*SUMMARY:|(Error: )?Target application|Tracking kernels"
    r"|Error: process didn't|\d+ errors were not printed"
)
ERROR_EXIT = 99  # the tool found something, league itself ended with 0
FAILED_EXIT = 1  # league: some case failed
SHOWN = 5


@dataclass
class Outcome:
    """Of one unit. `broken`: why it says nothing about the variant."""

    key: str
    variant: str
    tool: str
    errors: int = 0
    warnings: int = 0
    passed: int = 0
    failed: dict[str, str] = field(default_factory=dict)  # case -> reason
    ill_posed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    broken: str = ""
    seconds: float = 0.0

    @property
    def clean(self) -> bool:
        found = self.errors or self.warnings or self.failed or self.broken
        return self.passed > 0 and not found

    @property
    def cell(self) -> str:
        """In the table: the tool's errors, or why there is no such number."""
        if self.broken:
            return self.broken.split(":")[0]
        said = [f"{self.errors}"]
        if self.warnings:
            said.append(f"{self.warnings} warning(s)")
        if self.failed:
            said.append(f"{len(self.failed)} case(s) FAILED")
        if not (self.passed or self.failed):
            said.append("no case ran")
        return ", ".join(said)

    def line(self) -> str:
        return json.dumps(asdict(self))


def findings_of(log: str) -> list[str]:
    """The first few distinct findings: what, and the first place that is named."""
    found: dict[str, None] = {}
    head = ""
    for line in [*log.splitlines(), "=== end"]:
        if place := PLACE.match(line):
            if head:
                found[f"{head} at {place[1]}"] = None
            head = ""
        elif begun := HEAD.match(line):
            if head:
                found[head] = None
            head = "" if NO_FINDING.match(begun[1]) else begun[1]
    return list(found)[:SHOWN]


def read_tool(outcome: Outcome, log: str, code: int) -> None:
    """Counts and findings of the tool; what keeps it from being believed."""
    summary = (HAZARDS if outcome.tool == "racecheck" else ERRORS).findall(log)
    if outcome.tool == "racecheck":
        outcome.errors = sum(int(errors) for errors, _ in summary)
        outcome.warnings = sum(int(warnings) for _, warnings in summary)
    else:
        outcome.errors = sum(map(int, summary))
    outcome.findings = findings_of(log)
    if INTERNAL.search(log):
        outcome.broken = "crashed: Internal Sanitizer Error"
    elif not summary:
        outcome.broken = f"crashed: no summary of {outcome.tool}, exit code {code}"
    elif code not in (0, FAILED_EXIT, ERROR_EXIT):
        outcome.broken = f"crashed: exit code {code}"
    elif code == ERROR_EXIT and not (outcome.errors or outcome.warnings):
        outcome.broken = f"crashed: {outcome.tool} counts no error, but exits with one"


def rows_of(records: Path) -> Iterator[dict[str, Any]]:
    """The cases in a folder of records."""
    for file in sorted(records.glob("*.json")):
        yield from json.loads(file.read_text(encoding="utf-8")).get("benchmarks", [])


def read_cases(outcome: Outcome, records: Path, expected: int) -> None:
    """What the records say of every case."""
    for row in rows_of(records):
        if row["status"] == "passed":
            outcome.passed += 1
        elif row["status"] == "skipped":
            outcome.skipped[row["name"]] = row["reason"]
        elif row["check"].get("ill_posed"):
            outcome.ill_posed[row["name"]] = row["reason"]
        else:
            outcome.failed[row["name"]] = row["reason"]
    others = outcome.failed, outcome.ill_posed, outcome.skipped
    recorded = outcome.passed + sum(map(len, others))
    if recorded != expected and not outcome.broken:
        outcome.broken = f"incomplete: {recorded} of {expected} cases were recorded"


def last_words(log: str) -> str:
    """The last line that league or the tool wrote, for the reader of the summary."""
    lines = [line for line in log.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "no output"
