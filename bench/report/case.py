# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A case: one line of results, and where it was recorded."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .schema import Kernel

USUAL = "stream"  # the execution whose name is left out


@dataclass(frozen=True)
class Build:
    """The executable that measured: figures of two builds are never pooled.

    Two are one where all fields are equal. What a record does not say is empty.
    """

    preset: str
    git: str
    kokkos: str
    compiler: str = ""
    flags: tuple[str, ...] = ()  # C++; CUDA or HIP; files of Kokkos
    sources: str = ""  # hash of the files that were compiled
    executable: str = ""  # hash of the file
    run: str = ""  # where nothing above says what was built: equal to no other run


@dataclass(frozen=True)
class Context:
    """Where and when a file was recorded."""

    build: Build
    launch_id: str
    date: str
    devices: tuple[tuple[str, str, float], ...]  # kind, name, llc_bytes (0: unknown)
    preflight: tuple[str, ...]
    host: str = ""  # name of the machine
    machine: str = ""  # hash of its id; empty where the system has none
    facts: tuple[tuple[str, str], ...] = ()  # of machine and build, for people
    run_id: str = ""  # of the run, which may go on in a later launch of the program
    multiprocessors: tuple[tuple[str, int], ...] = ()  # name of a GPU, how many it has

    def full_name(self, kind: str, name: str) -> str:
        """The name that the list of devices has for a device of this kind and name."""
        listed = (d[1] for d in self.devices if d[0] == kind)
        return next((full for full in listed if full.startswith(f"{name}, ")), name)

    def llc_bytes(self, kind: str, name: str) -> float:
        """Last-level cache of one device [bytes]; 0 where the record does not say."""
        return max([d[2] for d in self.devices if d[:2] == (kind, name)], default=0)

    def processors(self, name: str) -> int:
        """Multiprocessors of a GPU of this name; 0 where the record does not say."""
        return max([n for gpu, n in self.multiprocessors if gpu == name], default=0)


@dataclass(frozen=True)
class Event:
    """A stage on one device of a case [s], on one clock for all of them."""

    device: int
    stage: str
    begin_s: float
    end_s: float
    queue: int = 0  # 1: what runs beside the kernels of the device


@dataclass(frozen=True)
class Power:
    """Mean power of a device in the window of an energy measurement [W]."""

    counted: float  # by its energy counter
    read: float | None  # mean of the driver's own readings; None where there are none


@dataclass(frozen=True)
class Metric:
    """What was measured beside the time. Equal ones are pooled; with another unit it is another one."""

    name: str
    unit: str
    of: str  # what a value belongs to: sample or launch
    marks: bool = False  # a value other than 0 marks what it belongs to


Values = dict[str, list[float]]  # of a metric, by launch


@dataclass
class EndToEnd:
    """Times from host to host in one kind of memory, cold or warm [s], or the reason why there are none."""

    launches: dict[str, list[float]] = field(default_factory=dict)  # as of a case
    parts: dict[str, list[float]] = field(default_factory=dict)  # of all launches
    reason: str = ""


@dataclass
class Case:
    """One line of results. ``launches`` holds its samples [s] by program launch; those
    taken at several placements of its arrays know of which each is (placements.py).

    ``contexts`` are those of all its launches, ``context`` is the first of them.
    """

    name: str
    comparison: str
    algorithm: str
    method: str
    model: str
    kind: str  # of the model (kinds.py)
    dtype: str
    sizes: dict[str, Any]
    parameters: dict[str, Any]
    devices: int
    device_kind: str
    device_name: str
    status: str
    reason: str
    metric: str
    unit: str
    bytes: float
    operations: float
    launch: str
    effective: dict[str, int]  # the sizes of the launch that ran, those of 0 left out
    communicator: str  # between several devices; empty for one
    context: Context
    host: str = (
        ""  # a part of the device's name: set where several hosts have such a device
    )
    execution: str = "stream"  # or graph, or kokkos_graph
    ranks: int = 1  # processes that share the devices
    nodes: int = 1  # machines that the ranks run on
    method_bytes: float = 0.0  # minimum traffic of the method; 0: not recorded
    best_unit: str = ""  # the unit of the fastest ceiling that could solve the problem
    written_bytes: float = 0.0  # of `bytes`
    method_operations: float = 0.0  # of the method, in its unit
    best_operations: float = 0.0  # of the problem, in the best unit
    other_operations: dict[str, float] = field(default_factory=dict)  # by their unit
    chain: float = 0.0  # multiply-adds of a step-by-step solve that wait for each other
    impossible: bool = False  # it took less time than its problem needs
    clock_hz: float = 0.0  # of a GPU, the fastest read beside the samples; 0: unknown
    null: bool = False  # a variant against itself: only null tests read it
    tuning: bool = False  # a candidate of a search: only launch maps read it
    drawn: bool = False  # its sizes are a shape that the study drew
    confirmed: bool = False  # the launch with which a search ended
    launch_source: str = "auto"  # or tuned, or explicit
    launch_note: str = ""  # why a tuned launch was not taken
    engines: tuple[str, ...] = ()  # that a composite communicator used
    contexts: list[Context] = field(default_factory=list)
    launches: dict[str, list[float]] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)
    stages: dict[str, list[float]] = field(default_factory=dict)
    metrics: dict[Metric, Values] = field(default_factory=dict)
    timeline: list[Event] = field(default_factory=list)
    kernels: tuple[Kernel, ...] = ()  # that a compute launches on a GPU
    kernels_note: str = ""  # why these are not known
    energies: dict[str, list[float]] = field(default_factory=dict)  # [J], by launch
    energy_reason: str = ""  # why energy was asked for and there is none
    end_to_end: dict[tuple[str, str], EndToEnd] = field(
        default_factory=dict
    )  # by memory and state
    powers: list[Power] = field(default_factory=list)  # of each launch with energies
    figures: dict[str, float] = field(default_factory=dict)  # of the check: accuracy
    curves: dict[str, list[float]] = field(
        default_factory=dict
    )  # of the check, by epoch
    expected: dict[str, tuple[float, float]] = field(default_factory=dict)  # figures
    bodies: str = ""  # of a portable model: one, numbers or several
    shared: bool | None = None  # whether native has the same device code; None: untold
    numbers: dict[str, int] = field(default_factory=dict)  # by which devices differ

    @property
    def problem_name(self) -> str:
        """Which of the algorithm's problems: ``fill``, ``newton``; empty for the usual."""
        found = re.search(r"/problem:([^/]+)", self.comparison)
        return found.group(1) if found else ""

    @property
    def method_text(self) -> str:
        """``fused``, and where its kernels are not launched one by one, ``fused graph``."""
        return self.method + ("" if self.execution == USUAL else f" {self.execution}")

    @property
    def way(self) -> str:
        """The execution for pairing: Kokkos' own graphs are compared with native graphs."""
        return self.method_text.replace(" kokkos_graph", " graph")

    @property
    def moved_bytes(self) -> float:
        """Minimum traffic of its method [bytes]; in old records, of its problem."""
        return self.method_bytes or self.bytes

    @property
    def setting(self) -> str:
        """Launch and, where it is not the usual one, communicator."""
        usual = self.communicator in ("", "local")
        return self.launch if usual else f"{self.launch}, {self.communicator}"

    @property
    def effective_text(self) -> str:
        """``league=132,team=256``."""
        return ",".join(f"{key}={size}" for key, size in self.effective.items())

    @property
    def samples(self) -> list[float]:
        """All samples [s], launch after launch."""
        return [sample for launch in self.launches.values() for sample in launch]
