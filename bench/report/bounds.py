# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The roofline bound of a case: the shortest time at the measured ceilings of the device.

Ceilings are the records of the algorithm ``ceilings`` on the same kind and model of
device: the best bandwidth B over its methods and models, and for each unit the best
multiply-add rate R (one multiply-add counts two operations; tensor cores are measured
with constant and with random operands, and only the constant ones count). The roofline
gives the bound of a case (Williams et al. 2009, doi:10.1145/1498765.1498785):
max(bytes / B, operations / R), R that of the unit of its method; a second bound takes
the unit of the best method that could solve the problem, so that it tells what a better
method might gain. N GPUs have N times the ceilings of one. Host devices
run one after another on parts of one CPU, so that they share its ceilings. Between GPUs the
links are the limit, whose ceiling is the best bus bandwidth of ``collectives`` ``exchange`` on as
many of them.

The roofline is the limit of a case only where its data are in the memory of the device and
its steps, one after the other, are long enough. Starting a step, by a launch or by a barrier of
several teams, has a latency: the minimum that the records of ``overheads`` hold. A kernel
of one team that takes all steps waits for a reduction over its team instead, a solve on moments for
one launch. Where steps x latency is longer than what the method moves takes at the peak, the case is
bound by latency. Without such records it is where a step's share of that is below
``SHORT_STEP`` and the time far from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from .case import Case
from .statistics import median

BANDWIDTHS = ("copy", "read", "write", "add", "triad", "dot")
CACHES = 4  # data below this many last-level caches count as cached
BALANCE = 10.0  # operations per byte from which they are assumed to be the limit
COPIES = {"copy in", "copy out"}  # stages that may run beside kernels
SHORT_STEP = 1e-6  # [s] about what a launch or a barrier of a whole league takes
FAR = 2.0  # times the roofline bound
LAUNCHES = {"launch", "kernel"}  # of overheads
AT_ONCE = {"normal_equations"}  # problems that are solved without steps
ONE_PASS = {"linear_regression", "polynomial_fit"}  # whose problem is one pass
ROOFLINE, LATENCY, CACHE, LINK = "roofline", "latency", "in cache", "host link"


@dataclass
class Ceilings:
    """Rates of one device, per second; 0 where nothing was measured."""

    bandwidth: float = 0.0
    cached: bool = False  # the bandwidth was measured on data that fit the cache
    rates: dict[str, float] = field(default_factory=dict)
    links: dict[int, float] = field(default_factory=dict)  # by number of devices
    latency: float = 0.0  # of a step, the minimum of launches and league barriers [s]
    team_latency: float = 0.0  # of a reduction over one team [s]


@dataclass(frozen=True)
class Bound:
    """Least time [s], None where unknown; whether bytes are the limit; what to know of it."""

    seconds: float | None
    bytes_bind: bool
    note: str = ""


def crosses_links(case: Case) -> bool:
    """Whether its bytes are those that each GPU sends to others."""
    return case.algorithm == "collectives" and case.device_kind == "gpu"


def steps(case: Case) -> int:
    """How many steps run one after the other: as many as the check counted, where a solve may stop early, else as asked for."""
    if case.problem_name in AT_ONCE:
        return 1
    count = case.figures.get("steps", case.parameters.get("steps", 1))
    return max(1, int(count)) if isinstance(count, int | float) else 1


def starts(case: Case) -> int:
    """The number of launches or league barriers: one for all steps on moments."""
    return 1 if case.method.startswith("moments") else steps(case)


def in_one_team(case: Case) -> bool:
    """Whether one team, or one cluster of teams, takes all steps in one kernel."""
    alone = case.device_kind == "host" or "league=1" in case.effective.split(",")
    return case.method == "persistent_cluster" or (
        case.method in ("persistent", "persistent_segments") and alone
    )


def data_bytes(case: Case) -> float:
    """What a compute reads and writes when it goes over its data once.

    Costs count that of every step, but where the problem needs one pass only; records from
    before that was so have no ``method_bytes``.
    """
    once = case.algorithm in ONE_PASS and case.method_bytes
    return case.bytes / (1 if once else steps(case))


def in_cache(case: Case) -> bool:
    """Whether the data of each device, which every step reads anew, may stay in its last-level cache."""
    if crosses_links(case):
        return False
    parts = case.devices if case.device_kind == "gpu" else 1
    llc = case.context.llc_bytes(case.device_kind, case.device_name)
    return 0 < data_bytes(case) / parts < CACHES * llc


def latency_bound(case: Case, ceilings: Ceilings | None) -> float | None:
    """The shortest time that starting its steps takes [s]; None where no latency was measured."""
    found = ceilings or Ceilings()
    latency = found.team_latency if in_one_team(case) else found.latency
    return starts(case) * latency or None


def short_steps(case: Case, bound: float, latency: float | None, time: float) -> bool:
    """Whether a case that took this long is bound by latency and not by what it moves or computes [s]."""
    if latency is not None:
        return bound < latency
    return bound < starts(case) * SHORT_STEP and time > FAR * bound


def own_bound(case: Case, bound: Bound) -> float:
    """The shortest time of its method [s], which may move more than its problem needs."""
    more = case.moved_bytes / case.bytes if bound.bytes_bind and case.bytes else 1.0
    return max(1.0, more) * (bound.seconds or 0.0)


def limit_of(case: Case, bound: Bound, ceilings: Ceilings | None, time: float) -> str:
    """What limits a case that took this long [s]; empty where too little is known."""
    fed = case.metric == "host_time" or COPIES & case.stages.keys()
    if case.device_kind == "gpu" and fed:
        return LINK
    latency = latency_bound(case, ceilings)
    if bound.seconds and short_steps(case, own_bound(case, bound), latency, time):
        return LATENCY
    if bound.bytes_bind and in_cache(case):
        return CACHE
    return ROOFLINE if bound.seconds else ""


def take_latency(case: Case, device: Ceilings) -> None:
    """Enters the time of a case of ``overheads`` into the latencies of its device."""
    latency = median(case.samples)
    meeting = case.method == "league_barrier" and case.sizes.get("teams", 1) > 1
    if case.method in LAUNCHES or meeting:
        device.latency = min(latency, device.latency or latency)
    if case.method == "team_reduction":
        device.team_latency = min(latency, device.team_latency or latency)


def measured_ceilings(cases: Iterable[Case]) -> dict[tuple[str, str], Ceilings]:
    """The ceilings of each (kind, name) of device, from passed one-device cases."""
    found: dict[tuple[str, str], Ceilings] = {}
    for case in cases:
        if case.status != "passed" or case.null:
            continue
        key = (case.device_kind, case.device_name)
        if crosses_links(case) and case.method == "exchange":
            links = found.setdefault(key, Ceilings()).links
            rate = case.bytes / median(case.samples)
            links[case.devices] = max(rate, links.get(case.devices, 0.0))
        if case.algorithm == "overheads" and case.devices == 1:
            take_latency(case, found.setdefault(key, Ceilings()))
        if case.algorithm != "ceilings" or case.devices != 1:
            continue
        device = found.setdefault(key, Ceilings())
        time = median(case.samples)
        if case.method not in BANDWIDTHS:
            if case.parameters.get("operands", "constant") != "constant":
                continue
            rate = case.operations / time
            device.rates[case.unit] = max(rate, device.rates.get(case.unit, 0.0))
        else:
            # A figure from memory wins over any figure from the cache.
            rank = (in_cache(case), -case.bytes / time)
            if not device.bandwidth or rank < (device.cached, -device.bandwidth):
                device.cached, device.bandwidth = rank[0], -rank[1]
    return found


def roofline_bound(case: Case, ceilings: Ceilings | None, unit: str) -> Bound:
    """The roofline bound of one case on its devices, were it computed in this unit."""
    if crosses_links(case):
        link = ceilings.links.get(case.devices) if ceilings else None
        return Bound(
            case.bytes / link if link else None,
            True,
            "" if link else "links not measured",
        )
    guess = case.operations <= BALANCE * case.bytes
    if ceilings is None or not (case.bytes or case.operations):
        return Bound(None, guess)
    devices = case.devices if case.device_kind == "gpu" else 1
    if case.bytes and not ceilings.bandwidth:
        return Bound(None, guess, "no bandwidth ceiling")
    moving = case.bytes / (ceilings.bandwidth * devices) if case.bytes else 0.0
    note = "ceiling measured in cache" if ceilings.cached and case.bytes else ""
    if not case.operations:
        return Bound(moving, True, note)
    rate = ceilings.rates.get(unit)
    if rate:
        working = case.operations / (rate * devices)
        return Bound(max(moving, working), moving >= working, note)
    # Without a ceiling for its unit, a bound is given only where bytes surely are the limit:
    # at the slowest rate known, not at that of tensor cores.
    slowest = min(ceilings.rates.values(), default=0.0)
    slack = moving >= case.operations / (slowest * devices) if slowest else guess
    if slack and moving:
        return Bound(moving, True, note)
    return Bound(None, False, f"no {unit} ceiling")
