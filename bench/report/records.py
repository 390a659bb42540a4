# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Record files, one a comparison: read and validated, each by itself."""

from __future__ import annotations

import gzip
import json
import math
import zlib
from pathlib import Path
from typing import Any

from .case import Build, Case, Context, Event
from .machine import read_facts

STATUSES = ("passed", "skipped", "failed")
KINDS = ("gpu", "host")
REQUIRED = object()


class Broken(ValueError):
    """A record file that cannot be used, and why."""


def take(row: Any, key: str, kind: Any, default: Any = REQUIRED) -> Any:
    """The value of ``key``, of the type ``kind``; null counts as absent."""
    value = row.get(key) if isinstance(row, dict) else None
    if value is None:
        if default is REQUIRED:
            raise Broken(f"'{key}' is missing")
        return default
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Broken(f"'{key}' has the wrong type: {value!r:.60}")
    return value


def positive(values: Any, key: str) -> list[float]:
    """Times [s]: finite numbers above zero, or the file is broken."""
    for value in values:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or value <= 0:
            raise Broken(f"'{key}' holds {value!r:.60}, not a time in seconds")
    return [float(value) for value in values]


def read_timeline(row: Any) -> list[Event]:
    """The events of a traced compute; none where the record has no room for them."""
    events = []
    for event in take(row, "timeline", list, []):
        device, stage = take(event, "device", int), take(event, "stage", str)
        times = [take(event, key, (int, float)) for key in ("begin_s", "end_s")]
        events.append(Event(device, stage, *map(float, times)))
    return events


def full_name(device: Any) -> str:
    """The name; of a CPU also its threads: two machines may differ in nothing else."""
    name, threads = take(device, "name", str), take(device, "threads", str, "")
    return f"{name}, {threads} threads" if threads else name


def read_figures(row: Any) -> dict[str, float]:
    """What the check found beside its verdict: accuracy, loss."""
    found = take(take(row, "check", dict, {}), "figures", dict, {})
    numbers = {k: v for k, v in found.items() if isinstance(v, (int, float))}
    return {str(k): float(v) for k, v in numbers.items() if math.isfinite(v)}


def read_context(record: Any, folder: Path) -> Context:
    """The context; a folder without a launch id counts as one launch."""
    context = take(record, "context", dict)
    league = take(context, "league", dict)
    devices = []
    for device in take(league, "devices", list, []):
        llc = take(device, "llc_bytes", (int, float), 0)
        devices.append((take(device, "kind", str), full_name(device), llc))
    names = [
        str(league.get(k) or "unknown") for k in ("preset", "git", "kokkos_version")
    ]
    return Context(
        build=Build(*names),
        launch_id=str(league.get("launch_id") or folder),
        date=take(context, "date", str, ""),
        devices=tuple(devices),
        preflight=tuple(str(text) for text in take(league, "preflight", list, [])),
        compiler=take(league, "compiler", str, ""),
        facts=read_facts(league),
    )


def read_launch(row: Any) -> dict[str, Any]:
    """What was asked for, what came of it, and who chose it."""
    launch = take(row, "launch", dict, {})
    keys = ("league", "team", "vector", "tile")
    requested = take(launch, "requested", str, "auto")
    chosen = "auto" if requested == "auto" else "explicit"
    return {
        "launch": requested,
        "effective": ",".join(f"{k}={launch[k]}" for k in keys if launch.get(k)),
        "launch_source": take(row, "launch_source", str, chosen),
        "launch_note": take(row, "launch_note", str, ""),
    }


def read_results(row: Any, launch_id: str, passed: bool) -> dict[str, Any]:
    """Times [s]; what did not pass has none."""
    samples = positive(take(row, "samples", list, []), "samples")
    latency = take(row, "latency_s", (int, float), None)
    stages = take(row, "stages", dict, {})
    if not passed:
        return {}
    if not samples:
        raise Broken("passed, but holds no samples")
    return {
        "launches": {launch_id: samples},
        "latencies": positive([latency], "latency_s") if latency else [],
        "stages": {str(k): [float(v)] for k, v in stages.items()},
        "timeline": read_timeline(row),
    }


def read_case(row: Any, comparison: str, context: Context) -> Case:
    """One entry of ``benchmarks``."""
    status = take(row, "status", str)
    kind = take(row, "device_kind", str)
    if status not in STATUSES:
        raise Broken(f"'status' is {status!r}, not one of {', '.join(STATUSES)}")
    if kind not in KINDS:
        raise Broken(f"'device_kind' is {kind!r}, not one of {', '.join(KINDS)}")
    cost = take(row, "cost", dict, {})
    keys = ("name", "algorithm", "method", "model", "dtype")
    texts: dict[str, Any] = {key: take(row, key, str) for key in keys}
    return Case(
        **texts,
        **read_launch(row),
        **read_results(row, context.launch_id, status == "passed"),
        comparison=comparison,
        sizes=take(row, "sizes", dict),
        parameters=take(row, "parameters", dict, {}),
        devices=take(row, "devices", int),
        device_kind=kind,
        device_name=context.full_name(kind, take(row, "device_name", str, "")),
        status=status,
        reason=take(row, "reason", str, ""),
        metric=take(row, "metric", str, ""),
        unit=take(row, "unit", str, texts["dtype"]),
        best_unit=take(row, "best_unit", str, ""),
        bytes=take(cost, "bytes", (int, float), 0),
        operations=take(cost, "operations", (int, float), 0),
        communicator=take(row, "communicator", str, ""),
        null=take(row, "null", bool, False),
        tuning=take(row, "tuning", bool, False),
        confirmed=take(row, "best", bool, False),
        context=context,
        contexts=[context],
        figures=read_figures(row),
    )


def read_json(path: Path) -> Any:
    """The content of a file, compressed (gzip) where its name says so; or Broken."""
    try:
        data = path.read_bytes()
        return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        raise Broken(f"not a whole JSON file: {error}") from error


def read_file(path: Path) -> list[Case]:
    """The cases of one record file.

    Raises Broken, naming what is wrong, for a file that is not a whole record.
    """
    record = read_json(path)
    context = read_context(record, path.parent)
    comparison = take(record, "comparison", str)
    cases, seen = [], set()
    for row in take(record, "benchmarks", list):
        if isinstance(row, dict) and row.get("run_type") == "aggregate":
            continue
        try:
            case = read_case(row, comparison, context)
        except (Broken, TypeError, ValueError) as error:
            name = row.get("name") if isinstance(row, dict) else row
            raise Broken(f"benchmark {name!r:.160}: {error}") from error
        if (case.name, case.device_kind) in seen:
            raise Broken(f"two benchmarks are named {case.name!r}")
        seen.add((case.name, case.device_kind))
        cases.append(case)
    return cases
