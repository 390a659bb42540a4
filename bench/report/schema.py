# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records and manifests, typed: what bench/record/record.schema.json describes, where every field has its meaning.

``Record.benchmarks`` are decoded one by one (decode.py), so that a message can name the benchmark.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Raw, Struct

from .fields import MAX_TIME_S, MAX_VALUE, MIN_TIME_S
from .kinds import Kind

VERSION = 2
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Positive = Annotated[int, Meta(ge=1, le=2**63 - 1)]
Time = Annotated[float, Meta(ge=MIN_TIME_S, le=MAX_TIME_S)]  # of one compute [s]
Span = Annotated[float, Meta(ge=0, le=MAX_TIME_S)]
Moment = Annotated[float, Meta(ge=-MAX_TIME_S, le=MAX_TIME_S)]
Amount = Annotated[float, Meta(ge=0, le=MAX_VALUE)]
Value = Annotated[float, Meta(ge=-MAX_VALUE, le=MAX_VALUE)]
Texts = dict[str, str]
DeviceKind = Literal["gpu", "host"]


class Device(Struct, frozen=True):
    """More facts of a device are texts."""

    kind: DeviceKind
    name: str
    index: Count = 0
    llc_bytes: Amount = 0.0
    memory_bytes: Amount = 0.0
    threads: str = ""
    multiprocessors: str = ""


class RankGpu(Struct, frozen=True):
    index: Count
    bus_id: str
    numa_node: int
    peers: str


class Rank(Struct, frozen=True):
    rank: Count
    local_rank: Count
    host: str
    threads: Count
    cores: str
    numa_nodes: str
    gpus: list[RankGpu]
    visible_gpus: list[str]
    variables: Texts


class League(Struct, frozen=True):
    study: str = ""
    launch_id: str = ""
    run_id: str = ""
    git: str = ""
    source_hash: str = ""
    executable_hash: str = ""
    machine: str = ""
    preset: str = ""
    kokkos_version: str = ""
    compiler: str = ""
    cxx_flags: str = ""
    cuda_flags: str = ""
    kokkos_flags: str = ""
    devices: list[Raw] = []  # Device
    ranks: list[Rank] = []
    nodes: Positive = 1
    host_devices: str = ""
    caches: str = ""
    preflight: list[str] = []
    backends: dict[str, Texts] = {}
    peers: dict[str, Any] | None = None


class Cache(Struct, frozen=True):
    type: str
    level: Count
    size: Count
    num_sharing: Count


class Context(Struct, frozen=True):
    league: League
    date: str = ""
    host_name: str = ""
    executable: str = ""
    num_cpus: Count = 0
    mhz_per_cpu: Count = 0
    cpu_scaling_enabled: bool = False
    caches: list[Cache] = []
    load_avg: list[Value] = []
    library_build_type: str = ""


class Event(Struct, frozen=True):
    device: Count
    stage: str
    begin_s: Moment
    end_s: Moment
    queue: Count = 0


class Launch(Struct, frozen=True):
    requested: str = "auto"
    league: Count = 0
    team: Count = 0
    vector: Count = 0
    tile: Count = 0


class Tuned(Struct, frozen=True):
    launch: str
    file: str
    hash: str
    search: str


class Sampling(Struct, frozen=True):
    max_noise: Amount
    time_limit_s: Amount
    noise: Value | None
    stopped_by: str


class Cost(Struct, frozen=True):
    bytes: Amount = 0.0
    written_bytes: Amount = 0.0
    method_bytes: Amount = 0.0
    operations: Amount = 0.0
    chain: Amount = 0.0
    other_operations: dict[str, Amount] = {}
    method_operations: Amount = 0.0
    best_operations: Amount = 0.0


class Energy(Struct, frozen=True):
    reason: str = ""
    joules: list[Amount] = []
    counter: str = ""
    seconds: Amount = 0.0
    window_s: Amount = 0.0
    updates: Count = 0
    power_W: Amount = 0.0
    read_power_W: Amount | None = None


class EndToEnd(Struct, frozen=True):
    memory: Literal["pageable", "pinned", "host"]
    state: Literal["cold", "warm"]
    reason: str = ""
    samples: list[Time] = []
    parts: dict[str, list[Span]] = {}


class Check(Struct, frozen=True):
    rows: Count = 0
    worst: float | None = None
    ties: Count = 0
    message: str = ""
    figures: dict[str, float | None] = {}
    curves: dict[str, list[Value]] = {}
    ill_posed: bool = False


class Metric(Struct, frozen=True):
    name: Annotated[str, Meta(pattern="^[a-z][a-z0-9_]*$")]
    unit: Annotated[str, Meta(pattern="^[^\\s,;]*$")]
    of: str
    values: list[Value]
    marks: bool = False


class Kernel(Struct, frozen=True):
    name: str
    count: Positive
    grid: list[Positive]
    block: list[Positive]
    registers: Count
    local_bytes: Count
    shared_bytes: Count
    resident_blocks: Count


class Inspections(Struct, frozen=True):
    results: Count
    poisoned: Count
    altered: Count


class Row(Struct, frozen=True):
    """One case of a comparison."""

    name: str
    algorithm: str
    method: str
    execution: str
    model: str
    kind: Kind
    dtype: str
    sizes: dict[str, Count]
    devices: Positive
    device_kind: DeviceKind
    status: Literal["passed", "skipped", "failed"]
    parameters: dict[str, str | int | float] = {}
    device_name: str = ""
    ranks: Positive = 1
    nodes: Positive = 1
    communicator: str = ""
    engines: list[str] = []
    drawn: bool = False
    null: bool = False
    tuning: bool = False
    best: bool = False
    expected: dict[str, tuple[Value, Value]] = {}
    bodies: Literal["one", "numbers", "several"] = "several"
    shared: bool | None = None
    numbers: dict[str, Positive] = {}
    reason: str = ""
    metric: str = ""
    samples: list[Time] = []
    placements: list[Count] = []
    sampling: Sampling | None = None
    latency_s: Time | None = None
    stages: dict[str, Span] = {}
    stages_note: str = ""
    per_device_s: list[Value] = []
    timeline: list[Event] = []
    counts: dict[str, Count] = {}
    metrics: list[Metric] = []
    kernels: list[Kernel] = []
    kernels_note: str = ""
    launch: Launch = Launch()
    launch_source: str = ""
    launch_note: str = ""
    tuned: Tuned | None = None
    batch: Count = 0
    group: Count = 0
    held: bool = False
    begin_skew_s: Amount = 0.0
    cost: Cost = Cost()
    unit: str = ""
    best_unit: str = ""
    readings_before: Texts = {}
    readings_after: Texts = {}
    energy: Energy | None = None
    end_to_end: list[EndToEnd] = []
    check: Check = Check()
    inspections: Inspections | None = None
    run_name: str = ""
    run_type: str = ""
    repetitions: Count = 0
    repetition_index: Count = 0
    threads: Count = 0
    iterations: Count = 0
    real_time: float = 0.0
    cpu_time: float = 0.0
    time_unit: str = ""
    error_occurred: bool = False
    error_message: str = ""


class Record(Struct, frozen=True):
    """The record of a comparison."""

    schema: Literal[2]
    context: Context
    comparison: str
    benchmarks: list[Raw]
    seconds: Span | None = None


class Precision(Struct, frozen=True):
    max_noise: Amount
    time_limit_s: Amount


class Manifest(Struct, frozen=True):
    """The description of a run."""

    schema: Literal[2]
    run_id: str = ""
    study: str = ""
    options: dict[str, Any] = {}
    git: str = ""
    executable: str = ""
    host_name: str = ""
    devices: list[Device] = []
    environment: Texts = {}
    cases: list[str] = []
    samples: list[Count | Precision] = []
    settings: str = ""
    data_files: Texts = {}
