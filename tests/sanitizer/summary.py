# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The summary of all units: a table of variants and tools, and all that is not plain."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from .outcome import Outcome


def table(outcomes: list[Outcome], tools: list[str]) -> list[str]:
    rows: dict[str, dict[str, Outcome]] = {}
    for one in outcomes:
        rows.setdefault(one.variant, {})[one.tool] = one
    lines = [
        f"| variant | {' | '.join(tools)} | cases passed | ill-posed | skipped |",
        "| --- |" + " --- |" * len(tools) + " ---: | ---: | ---: |",
    ]
    for variant, found in rows.items():
        cells = [found[tool].cell if tool in found else "not run" for tool in tools]
        counts = [
            str(sum(count(one) for one in found.values()))
            for count in (
                lambda one: one.passed,
                lambda one: len(one.ill_posed),
                lambda one: len(one.skipped),
            )
        ]
        lines.append(f"| {' | '.join([variant, *cells, *counts])} |")
    return lines


def reasons(title: str, outcomes: Iterable[tuple[str, str]]) -> list[str]:
    """Each reason once, with one case that it was given for."""
    found: dict[str, list[str]] = {}
    for case, reason in outcomes:
        found.setdefault(reason, []).append(case)
    if not found:
        return []
    lines = ["", title, ""]
    for reason, cases in found.items():
        unique = list(dict.fromkeys(cases))
        more = f" and {len(unique) - 1} more" if len(unique) > 1 else ""
        lines.append(f"- {reason}: {unique[0]}{more}")
    return lines


def markdown(outcomes: list[Outcome], tools: list[str], missing: int) -> str:
    clean = sum(one.clean for one in outcomes)
    head = f"{len(outcomes)} units (a variant under a tool), {clean} clean"
    if missing:
        head += f", {missing} not run yet"
    lines = [head, "", *table(outcomes, tools)]
    found = [one for one in outcomes if not one.clean]
    if found:
        lines += ["", "Not clean:", ""]
    for one in found:
        lines.append(f"- {one.variant}, {one.tool}: {one.broken or one.cell}")
        lines += [f"  - {finding}" for finding in one.findings]
    for title, of in (
        ("Cases that FAILED:", "failed"),
        ("Cases whose problem has no answer:", "ill_posed"),
        ("Cases skipped:", "skipped"),
    ):
        cases = [case for one in outcomes for case in getattr(one, of).items()]
        lines += reasons(title, cases)
    return "\n".join(lines) + "\n"


def write(folder: Path, outcomes: list[Outcome], tools: list[str], missing: int) -> str:
    """`summary.md` and `summary.json`; returns the text of the first."""
    text = markdown(outcomes, tools, missing)
    (folder / "summary.md").write_text(text, encoding="utf-8")
    units = [{**asdict(one), "clean": one.clean} for one in outcomes]
    whole = {"tools": tools, "missing": missing, "units": units}
    (folder / "summary.json").write_text(
        json.dumps(whole, indent=1) + "\n", encoding="utf-8"
    )
    return text
