# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records, one per comparison, become cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import case, costs, decode, end_to_end, metrics, writing
from .case import Case, Context
from .consistent import require_consistent
from .fields import MAX_VALUE, Broken
from .machine import read_build, read_facts
from .placements import Placed
from .schema import Device, Energy, Event, Record, Row
from .sources import Source


def read_timeline(events: list[Event]) -> list[case.Event]:
    """The events of a traced compute."""
    for number, one in enumerate(events):
        if one.end_s < one.begin_s:
            text = f"{one.end_s}, before it begins, at {one.begin_s}"
            raise Broken(f"'timeline[{number}].end_s' is {text}")
    return [
        case.Event(one.device, one.stage, one.begin_s, one.end_s, one.queue)
        for one in events
    ]


def full_name(device: Device) -> str:
    """The name; of a CPU also its threads: two machines may differ in nothing else."""
    threads = device.threads
    return f"{device.name}, {threads} threads" if threads else device.name


def read_context(record: Record, folder: Path) -> Context:
    """The context; a folder without a launch id counts as one launch."""
    context, league = record.context, record.context.league
    host = context.host_name
    devices = [decode.decode(bytes(one), Device) for one in league.devices]
    return Context(
        build=read_build(league, folder),
        host=host,
        machine=league.machine,
        launch_id=league.launch_id or str(folder),
        date=context.date,
        devices=tuple((d.kind, full_name(d), d.llc_bytes) for d in devices),
        preflight=tuple(league.preflight),
        facts=(*([("host", host)] if host else []), *read_facts(league)),
        run_id=league.run_id,
        multiprocessors=costs.multiprocessors(devices),
    )


def read_launch(row: Row) -> dict[str, Any]:
    """The requested launch, the effective one, and its source."""
    launch = row.launch
    sizes = {key: getattr(launch, key) for key in ("league", "team", "vector", "tile")}
    chosen = "auto" if launch.requested == "auto" else "explicit"
    return {
        "launch": launch.requested,
        "effective": {key: size for key, size in sizes.items() if size},
        "launch_source": row.launch_source or chosen,
        "launch_note": row.launch_note,
    }


def read_samples(row: Row) -> list[float]:
    """The samples [s], and where there are several placements, that of each."""
    samples, places = row.samples, row.placements
    if places and len(places) != len(samples):
        raise Broken(f"holds {len(places)} placements of {len(samples)} samples")
    return Placed(samples, places) if len(set(places)) > 1 else samples


def read_results(row: Row, launch_id: str) -> dict[str, Any]:
    """Times [s] and energies; what did not pass has none."""
    samples, timeline = read_samples(row), read_timeline(row.timeline)
    ways = end_to_end.read(row, launch_id)
    if row.status != "passed":
        return {}
    if not samples:
        raise Broken("passed, but holds no samples")
    return {
        "launches": {launch_id: samples},
        "latencies": [] if row.latency_s is None else [row.latency_s],
        "stages": {stage: [time] for stage, time in row.stages.items()},
        "metrics": metrics.read(row, launch_id),
        "kernels": tuple(row.kernels),
        "kernels_note": row.kernels_note,
        "timeline": timeline,
        "end_to_end": ways,
        **(read_energy(row.energy, launch_id) if row.energy else {}),
    }


def read_energy(energy: Energy, launch_id: str) -> dict[str, Any]:
    """Energy of one compute [J] and mean power [W], or the reason why there are none."""
    if energy.reason:
        return {"energy_reason": energy.reason}
    if not energy.joules:
        raise Broken("'energy.joules' is empty")
    return {
        "energies": {launch_id: energy.joules},
        "powers": [case.Power(energy.power_W, energy.read_power_W)],
    }


def read_case(row: Row, comparison: str, context: Context) -> Case:
    """One entry of ``benchmarks``. Raises Broken."""
    require_consistent(row, context)
    figures = row.check.figures.items()
    return Case(
        **{key: getattr(row, key) for key in SAME},
        **read_launch(row),
        **costs.read(row),
        **read_results(row, context.launch_id),
        **writing.read(row),
        comparison=comparison,
        device_name=context.full_name(row.device_kind, row.device_name),
        unit=row.unit or row.dtype,
        engines=tuple(row.engines),
        confirmed=row.best,
        context=context,
        contexts=[context],
        figures={k: v for k, v in figures if v is not None and abs(v) <= MAX_VALUE},
        curves=row.check.curves,
        clock_hz=costs.clock(row),
    )


SAME = (
    *("name", "algorithm", "method", "execution", "model", "kind", "dtype", "sizes"),
    *("parameters", "devices", "ranks", "nodes", "device_kind", "status", "reason"),
    *("metric", "best_unit", "communicator", "null", "tuning", "drawn", "expected"),
)


def read_file(source: Source) -> list[Case]:
    """The cases of one record.

    Raises Broken, naming what is wrong, for one that is not whole.
    """
    return read_record(decode.record(source), source.folder)


def read_record(record: Record, folder: Path) -> list[Case]:
    """The cases of one record."""
    context = read_context(record, folder)
    cases, seen = [], set()
    for row in decode.rows(record, Row):
        if (row.name, row.device_kind) in seen:
            raise Broken(f"two benchmarks are named {row.name!r}")
        seen.add((row.name, row.device_kind))
        try:
            cases.append(read_case(row, record.comparison, context))
        except Broken as error:
            raise Broken(f"benchmark {row.name!r:.160}: {error}") from error
    return cases
