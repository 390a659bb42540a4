# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records, one per comparison: read and validated, each by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import costs, end_to_end, fields, kinds, schema, writing
from .case import Case, Context, Event, Power
from .fields import Broken, clean, number, take, whole
from .machine import read_build, read_facts
from .placements import Placed
from .sources import Source

STATUSES = ("passed", "skipped", "failed")
DEVICES = ("gpu", "host")
BYTES = ("llc_bytes", "memory_bytes")


def read_timeline(row: Any) -> list[Event]:
    """The events of a traced compute; none where the record has no room for them."""
    events, limit = [], fields.MAX_TIME_S
    for event in take(row, "timeline", list, []):
        device, stage = (
            whole(take(event, "device", int), "device"),
            take(event, "stage", str),
        )
        begin, end = (take(event, key, (int, float)) for key in ("begin_s", "end_s"))
        begin = number(begin, "begin_s", -limit, limit)
        end = number(end, "end_s", begin, limit)
        queue = whole(take(event, "queue", int, 0), "queue")
        events.append(Event(device, stage, begin, end, queue))
    return events


def full_name(device: Any) -> str:
    """The name; of a CPU also its threads: two machines may differ in nothing else."""
    name, threads = take(device, "name", str), take(device, "threads", str, "")
    return f"{name}, {threads} threads" if threads else name


def read_figures(row: Any) -> dict[str, float]:
    """Figures of the check: accuracy, loss."""
    found = take(take(row, "check", dict, {}), "figures", dict, {})
    numbers = {k: v for k, v in found.items() if isinstance(v, (int, float))}
    limit = fields.MAX_VALUE
    return {k: float(v) for k, v in numbers.items() if -limit <= v <= limit}


def read_curves(row: Any) -> dict[str, list[float]]:
    """Figures of the check that have a value for each epoch."""
    found = take(take(row, "check", dict, {}), "curves", dict, {})
    limit = fields.MAX_VALUE
    return {
        clean(name): [
            number(value, f"curves.{name}", -limit, limit)
            for value in take(found, name, list)
        ]
        for name in found
    }


def read_expected(row: Any) -> dict[str, tuple[float, float]]:
    """Where the study expects figures of the check."""
    bands, limit = {}, fields.MAX_VALUE
    for name in take(row, "expected", dict, {}):
        ends = take(row["expected"], name, list)
        if len(ends) != 2:
            raise Broken(f"'expected.{name}' holds {len(ends)} values, not two")
        low, high = (number(end, f"expected.{name}", -limit, limit) for end in ends)
        bands[clean(name)] = (low, high)
    return bands


def read_sizes(row: Any) -> dict[str, int]:
    """The sizes of the problem."""
    sizes = take(row, "sizes", dict)
    return {clean(k): whole(value, f"sizes.{k}") for k, value in sizes.items()}


def read_parameters(row: Any) -> dict[str, Any]:
    """The parameters of the problem: words and numbers."""
    found = {}
    for name, value in take(row, "parameters", dict, {}).items():
        found[clean(name)] = clean(value) if isinstance(value, str) else value
        if not isinstance(value, (str, int, float)):
            raise Broken(
                f"'parameters.{name}' has the wrong type: {fields.shown(value)}"
            )
    return found


def read_devices(league: Any) -> tuple[tuple[str, str, float], ...]:
    """Kind, name and last-level cache of each device of the machine."""
    devices = []
    for device in take(league, "devices", list, []):
        amounts = [number(take(device, key, object, 0), key) for key in BYTES]
        devices.append((take(device, "kind", str), full_name(device), amounts[0]))
    return tuple(devices)


def read_context(record: Any, folder: Path) -> Context:
    """The context; a folder without a launch id counts as one launch."""
    context = take(record, "context", dict)
    league = take(context, "league", dict)
    host = take(context, "host_name", str, "")
    return Context(
        build=read_build(league, folder),
        host=host,
        machine=take(league, "machine", str, ""),
        launch_id=take(league, "launch_id", str, "") or str(folder),
        date=take(context, "date", str, ""),
        devices=read_devices(league),
        preflight=tuple(
            clean(str(text)) for text in take(league, "preflight", list, [])
        ),
        facts=(*([("host", host)] if host else []), *read_facts(league)),
        run_id=take(league, "run_id", str, ""),
        multiprocessors=costs.multiprocessors(league),
    )


def read_launch(row: Any) -> dict[str, Any]:
    """The requested launch, the effective one, and its source."""
    launch = take(row, "launch", dict, {})
    keys = ("league", "team", "vector", "tile")
    sizes = {key: whole(take(launch, key, object, 0), key) for key in keys}
    requested = take(launch, "requested", str, "auto")
    chosen = "auto" if requested == "auto" else "explicit"
    return {
        "launch": requested,
        "effective": ",".join(f"{k}={size}" for k, size in sizes.items() if size),
        "launch_source": take(row, "launch_source", str, chosen),
        "launch_note": take(row, "launch_note", str, ""),
    }


def read_samples(row: Any) -> list[float]:
    """The samples [s], and where there are several placements, that of each."""
    samples = fields.times(take(row, "samples", list, []), "samples")
    places = [whole(place, "placements") for place in take(row, "placements", list, [])]
    if places and len(places) != len(samples):
        raise Broken(f"holds {len(places)} placements of {len(samples)} samples")
    return Placed(samples, places) if len(set(places)) > 1 else samples


def read_results(row: Any, launch_id: str, passed: bool) -> dict[str, Any]:
    """Times [s]; what did not pass has none."""
    samples = read_samples(row)
    latency = take(row, "latency_s", object, None)
    stages = take(row, "stages", dict, {})
    counts = take(row, "counts", dict, {})
    if not passed:
        return {}
    if not samples:
        raise Broken("passed, but holds no samples")
    return {
        "launches": {launch_id: samples},
        "latencies": fields.times([latency], "latency_s")
        if latency is not None
        else [],
        "stages": {
            clean(stage): [number(time, f"stages.{stage}", maximum=fields.MAX_TIME_S)]
            for stage, time in stages.items()
        },
        "counts": {
            clean(name): [whole(count, f"counts.{name}")]
            for name, count in counts.items()
        },
        "timeline": read_timeline(row),
    }


def read_energy(row: Any, launch_id: str, passed: bool) -> dict[str, Any]:
    """Energy of one compute [J] and mean power [W], or the reason why there are none."""
    energy = take(row, "energy", dict, {})
    if not energy or not passed:
        return {}
    if reason := take(energy, "reason", str, ""):
        return {"energy_reason": reason}
    joules = take(energy, "joules", list)
    if not joules:
        raise Broken("'energy.joules' is empty")
    read = take(energy, "read_power_W", object, None)
    return {
        "energies": {launch_id: [number(one, "energy.joules") for one in joules]},
        "powers": [
            Power(
                number(take(energy, "power_W", object), "energy.power_W"),
                None if read is None else number(read, "energy.read_power_W"),
            )
        ],
    }


def read_case(row: Any, comparison: str, context: Context) -> Case:
    """One entry of ``benchmarks``."""
    status = take(row, "status", str)
    device_kind = take(row, "device_kind", str)
    if status not in STATUSES:
        raise Broken(f"'status' is {status!r}, not one of {', '.join(STATUSES)}")
    if device_kind not in DEVICES:
        raise Broken(
            f"'device_kind' is {device_kind!r}, not one of {', '.join(DEVICES)}"
        )
    kind = take(row, "kind", str)
    if kind not in kinds.KINDS:
        raise Broken(f"'kind' is {kind!r}, not one of {', '.join(kinds.KINDS)}")
    keys = ("name", "algorithm", "method", "execution", "model", "dtype")
    texts: dict[str, Any] = {key: take(row, key, str) for key in keys}
    return Case(
        **texts,
        kind=kind,
        **read_launch(row),
        **costs.read(row),
        **read_results(row, context.launch_id, status == "passed"),
        **read_energy(row, context.launch_id, status == "passed"),
        end_to_end=end_to_end.read(row, context.launch_id, status == "passed"),
        comparison=comparison,
        sizes=read_sizes(row),
        parameters=read_parameters(row),
        devices=whole(take(row, "devices", int), "devices", 1),
        ranks=whole(take(row, "ranks", int, 1), "ranks", 1),
        nodes=whole(take(row, "nodes", int, 1), "nodes", 1),
        device_kind=device_kind,
        device_name=context.full_name(device_kind, take(row, "device_name", str, "")),
        status=status,
        reason=take(row, "reason", str, ""),
        metric=take(row, "metric", str, ""),
        unit=take(row, "unit", str, texts["dtype"]),
        best_unit=take(row, "best_unit", str, ""),
        communicator=take(row, "communicator", str, ""),
        engines=tuple(clean(str(name)) for name in take(row, "engines", list, [])),
        null=take(row, "null", bool, False),
        tuning=take(row, "tuning", bool, False),
        drawn=take(row, "drawn", bool, False),
        confirmed=take(row, "best", bool, False),
        context=context,
        contexts=[context],
        figures=read_figures(row),
        curves=read_curves(row),
        expected=read_expected(row),
        **writing.read(row, kind),
        clock_hz=costs.clock(row),
    )


def read_file(source: Source) -> list[Case]:
    """The cases of one record.

    Raises Broken, naming what is wrong, for one that is not whole.
    """
    try:
        return read_record(schema.read(source), source.folder)
    except RecursionError as error:
        raise Broken("nested too deeply") from error


def read_record(record: Any, folder: Path) -> list[Case]:
    """The cases of one record."""
    context = read_context(record, folder)
    comparison = take(record, "comparison", str)
    cases, seen = [], set()
    rows = take(record, "benchmarks", list)
    if not rows:
        raise Broken("holds no benchmarks")
    for row in rows:
        if isinstance(row, dict) and row.get("run_type") == "aggregate":
            continue
        try:
            case = read_case(row, comparison, context)
        except Broken as error:
            name = row.get("name") if isinstance(row, dict) else row
            raise Broken(f"benchmark {fields.shown(name, 160)}: {error}") from error
        if (case.name, case.device_kind) in seen:
            raise Broken(f"two benchmarks are named {case.name!r}")
        seen.add((case.name, case.device_kind))
        cases.append(case)
    return cases
