# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measured times, by variant and engine, and measured collectives."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bench.report.case import Case
from bench.report.fields import Broken
from bench.report.scaling import variant
from bench.report.units import seconds

from .calls import Call, Trace, calls_of
from .engines import KINDS, Placed

HEAD = ("engine", "kind", "devices", "nodes", "bytes", "seconds")


@dataclass(frozen=True)
class Point:
    """A problem on some devices; all times on the host's clock."""

    devices: int
    ranks: int
    work: float  # operations, or bytes where it has none
    sizes: tuple[tuple[str, int], ...]
    calls: tuple[Call, ...]
    launches: tuple[tuple[float, ...], ...]  # samples [s]
    case: Case

    def place(self, per_node: int) -> Placed:
        """As it was recorded, or on the fewest nodes of so many devices."""
        fewest = math.ceil(self.devices / per_node)
        return Placed(self.devices, max(self.case.nodes, fewest))

    @property
    def per_rank(self) -> int:
        """Devices that one process starts, one after another."""
        return self.devices // self.ranks


@dataclass(frozen=True)
class Collective:
    """One measured call."""

    engine: str
    kind: str
    place: Placed
    bytes: float
    seconds: float
    device: str = ""  # of what; empty: not said
    execution: str = ""  # of a record: calls in graphs cost less


@dataclass
class Family:
    """All sizes of one variant with one engine."""

    label: str
    engine: str
    points: list[Point] = field(default_factory=list)

    @property
    def counts(self) -> list[int]:
        """Numbers of devices, each once."""
        return sorted({point.devices for point in self.points})


def host_times(case: Case) -> tuple[tuple[float, ...], ...]:
    """Samples on the host's clock, by launch; for device time, the latencies."""
    if case.metric != "device_time":
        return tuple(tuple(samples) for samples in case.launches.values())
    return (tuple(case.latencies),) if case.latencies else ()


def in_turn(case: Case) -> bool:
    """Whether its devices run one after another, as host devices of one process do: no scaling."""
    return case.device_kind == "host" and case.devices > case.ranks


def point_of(case: Case, traces: list[Trace]) -> Point | None:
    """None for what has no time on the host's clock, or was not measured at all."""
    times = host_times(case)
    usable = case.status == "passed" and not (case.null or case.tuning)
    if not usable or not times or in_turn(case):
        return None
    work = case.operations or case.bytes
    if work <= 0:
        return None
    sizes = tuple(sorted((k, int(v)) for k, v in case.sizes.items()))
    calls = calls_of(case, traces)
    return Point(case.devices, case.ranks, work, sizes, calls, times, case)


def families(cases: Iterable[Case], traces: list[Trace]) -> list[Family]:
    """Variants by engine, those that were measured on several numbers of devices."""
    ones: dict[tuple[object, ...], list[Point]] = defaultdict(list)
    several: dict[tuple[object, ...], Family] = {}
    for case in cases:
        point = point_of(case, traces) if case.algorithm != "collectives" else None
        if point is None:
            continue
        key = variant(case)
        if case.devices == 1:
            ones[key].append(point)
            continue
        engine = case.communicator or "local"
        label = f"{case.algorithm} {case.method_text} / {case.model}, {case.dtype}"
        family = several.setdefault((*key, engine), Family(label, engine))
        family.points.append(point)
    for key, family in several.items():
        family.points[:0] = ones[key[:-1]]
        family.points.sort(key=lambda point: (point.devices, point.work))
    return [family for family in several.values() if 1 in family.counts]


def device_of(found: list[Family]) -> str:
    """The one device that all were measured on. Raises Broken where there are several, or none."""
    names = sorted({p.case.device_name for family in found for p in family.points})
    if len(names) > 1:
        raise Broken(
            f"records of several machines ({'; '.join(names)}): "
            "times of one say nothing of the other; choose one with --device"
        )
    if not names:
        raise Broken(
            "no variant was measured on one device and on several: nothing to fit "
            "(host devices of one process run in turn and never count; start ranks)"
        )
    return names[0]


def collectives(cases: Iterable[Case]) -> list[Collective]:
    """Of records of the algorithm `collectives`: its method is the kind, its size `bytes`."""
    found = []
    for case in cases:
        times = host_times(case) or tuple(map(tuple, case.launches.values()))
        if case.algorithm != "collectives" or case.status != "passed" or case.null:
            continue
        size = case.sizes.get("bytes")
        if case.method not in KINDS or size is None or not times or case.devices < 2:
            continue
        if case.parameters.get("order", "any") != "any":
            continue
        halos = 2 if case.method == "exchange" else 1  # half of a buffer goes each way
        samples = sorted(sample for launch in times for sample in launch)
        middle = samples[len(samples) // 2]
        engine, nodes = case.communicator or "local", case.nodes
        place = Placed(case.devices, nodes)
        one = (engine, case.method, place, float(size) / halos, middle)
        found.append(Collective(*one, case.device_name, case.execution))
    return found


def read_table(path: Path) -> list[Collective]:
    """A CSV file with the columns of HEAD. Raises Broken, naming the line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Broken(f"{path}: cannot be read: {error}") from error
    table = csv.DictReader(line for line in lines if not line.startswith("#"))
    if table.fieldnames is None or not set(HEAD) <= set(table.fieldnames):
        raise Broken(f"{path}: takes the columns {','.join(HEAD)}")
    found = []
    for number, row in enumerate(table, 1):
        try:
            counts = int(row["devices"]), int(row["nodes"])
            size, time = float(row["bytes"]), float(row["seconds"])
        except (TypeError, ValueError) as error:
            raise Broken(f"{path}: row {number}: {error}") from error
        if row["kind"] not in KINDS:
            kinds = ", ".join(KINDS)
            raise Broken(
                f"{path}: row {number}: kind '{row['kind']}' is none of {kinds}"
            )
        if counts[0] < 2 or counts[1] < 1 or size < 0 or time <= 0:
            raise Broken(
                f"{path}: row {number}: {counts[0]} devices, {counts[1]} nodes, "
                f"{size:g} bytes in {seconds(time)}: takes two devices or more and a time"
            )
        found.append(
            Collective(row["engine"], row["kind"], Placed(*counts), size, time)
        )
    return found
