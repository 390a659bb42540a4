# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Predictions as files: CSV for tools, JSON with all inputs."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.report.statistics import Estimate

from .model import Model
from .series import Entry, Series

CANNOT_TELL = (
    "contention: other jobs on the same links and switches, and messages of one job that meet",
    "placement: which nodes a job gets, and how far apart they lie",
    "noise: a step waits for its slowest device, and more devices have slower slowest ones",
    "what changes with the size: caches, other algorithms of an engine, idle multiprocessors",
    "numbers of a platform file that were not measured: they enter as ranges",
)
HEAD = (
    *("kind", "variant", "engine", "sizes", "devices", "nodes"),
    *("time_s", "low_s", "high_s", "speedup", "speedup_low", "speedup_high"),
    *("efficiency", "efficiency_low", "efficiency_high"),
    *("measured_s", "measured_low_s", "measured_high_s", "fitted"),
)


def ends(found: Estimate | None) -> tuple[float | None, ...]:
    """Value, low, high."""
    return (found.value, found.low, found.high) if found else (None,) * 3


def text(value: object) -> str:
    """Six digits of a number; empty for none."""
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def to_csv(found: Sequence[Series]) -> str:
    """One line a number of devices."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(HEAD)
    for one in found:
        head = (one.kind, one.family.label, one.family.engine, one.sizes)
        for entry in one.entries:
            place = entry.predicted.place
            numbers = (
                *ends(entry.predicted.time),
                *ends(entry.speedup),
                *ends(entry.efficiency),
                *ends(entry.measured),
            )
            row = (*head, place.devices, place.nodes, *numbers, int(entry.fitted))
            writer.writerow(map(text, row))
    return lines.getvalue()


def hashes(files: Sequence[Path]) -> list[dict[str, str]]:
    """Names and SHA-256 of the inputs, so that a reader can verify which they were."""
    return [
        {"file": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
        for path in files
    ]


def rounded(value: Any) -> Any:
    """Six digits of every number within."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return (
        [rounded(one) for one in value] if isinstance(value, (list, tuple)) else value
    )


def entry_json(entry: Entry) -> dict[str, Any]:
    """One number of devices."""
    place = entry.predicted.place
    return {
        "devices": place.devices,
        "nodes": place.nodes,
        "work": entry.predicted.work,
        "time_s": asdict(entry.predicted.time),
        "parts_s": {k: v for k, v in entry.predicted.parts.items() if v > 0},
        "speedup": asdict(entry.speedup),
        "efficiency": asdict(entry.efficiency),
        "measured_s": asdict(entry.measured) if entry.measured else None,
        "fitted": entry.fitted,
    }


def to_json(
    found: Sequence[tuple[Model, Series]], inputs: Sequence[Path], asked: dict[str, Any]
) -> str:
    """All of it; ``asked``: what the command line said."""
    series = [
        {
            "name": one.name,
            "kind": one.kind,
            "variant": one.family.label,
            "engine": one.family.engine,
            "sizes": dict(one.base.sizes),
            "case": one.base.case.name,
            "calls": [asdict(call) for call in one.base.calls],
            "parameters": {k: asdict(v) for k, v in model.parameters().items()},
            "spread": model.spread,
            "points": [entry_json(entry) for entry in one.entries],
        }
        for model, one in found
    ]
    whole = {
        "asked": asked,
        "cannot_tell": CANNOT_TELL,
        "series": rounded(series),
        "inputs": hashes(inputs),
    }
    return "{\n" + ",\n".join(in_lines(*item) for item in whole.items()) + "\n}\n"


def in_lines(key: str, value: Any) -> str:
    """A key of an object; of a list, an element a line, so that files can be compared."""
    if not isinstance(value, (list, tuple)):
        return f"{json.dumps(key)}: {json.dumps(value)}"
    lines = ",\n ".join(json.dumps(one) for one in value)
    return f"{json.dumps(key)}: [\n {lines}\n]"


def verdicts(found: Sequence[Series], devices: int) -> list[str]:
    """Predictions beside what was measured and not fitted; the last line counts them."""
    lines, inside, errors = [], 0, []
    for one in found:
        for entry in one.entries:
            true, time = entry.measured, entry.predicted.time
            if entry.predicted.place.devices != devices or not true or entry.fitted:
                continue
            low, high = time.low or 0, time.high or 0
            errors.append(time.value / true.value - 1)
            within = low <= true.value <= high
            inside += within
            lines.append(
                f"{'inside ' if within else 'OUTSIDE'} {one.name}: measured "
                f"{true.value * 1e6:.1f} us, predicted {time.value * 1e6:.1f} us "
                f"[{low * 1e6:.1f}, {high * 1e6:.1f}], {errors[-1]:+.1%}"
            )
    if lines:
        errors.sort(key=abs)
        lines.append(
            f"{devices} devices: {inside} of {len(errors)} inside their intervals; "
            f"median error {abs(errors[len(errors) // 2]):.1%}"
        )
    return lines
