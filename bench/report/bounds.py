# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The roofline bound of a case: the shortest time at the measured peaks of the device (peaks.py).

The roofline gives it as max(bytes / B, operations / R) (Williams et al. 2009,
doi:10.1145/1498765.1498785), R that of the unit and B that of the traffic. There are two:

- *of the method*: the bytes that it moves at least, its products, its unit;
- *of the problem*, which no method can beat: each input read once, each output written once, in
  later steps only what cannot stay on the device (traffic.py), and the fewest products in the best
  unit with sufficient precision. A case that takes less than ``IMPOSSIBLE`` of it did not compute.

N GPUs have N times the peaks of one. Host devices run one after another on parts of one CPU, so that
they share its peaks. Between GPUs the links are the limit, whose peak is the best bus bandwidth of
``collectives`` on as many of them.

The roofline is the limit of a case only where its data are in the memory of the device and
its steps, one after the other, are long enough. Starting a step has a latency that the records of
``overheads`` hold: of a step that a league takes together, by a launch or by a barrier, and of a
reduction over a team in a kernel of one team. A solve on moments starts once. A descent step by step
also waits for a chain of multiply-adds. Where that takes longer than what the method moves takes at the
peak, the case is bound by latency. Without such records it is where a step's share of that is below
``SHORT_STEP`` and the time far from it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .case import Case
from .peaks import Ceilings
from .traffic import (
    crosses_links,
    data_bytes,
    in_cache,
    may_be_cached,
    needed_bytes,
    parts,
    steps,
    written_share,
)
from .units import plain, seconds

BALANCE = 10.0  # operations per byte from which they are assumed to be the limit
COPIES = {"copy in", "copy out"}  # stages that may run beside kernels
SHORT_STEP = 1e-6  # [s] about what a launch or a barrier of a whole league takes
FAR = 2.0  # times the roofline bound
IMPOSSIBLE = 0.8  # of the bound of the problem
IMPOSSIBLE_ON_HOST = 0.25  # what shares a host holds its peaks down
#: solves whose problem needs no step after the other: linear descents on moments, a stencil in tiles
STEPLESS = {"linear_regression", "polynomial_fit", "stencil"}
ROOFLINE, LATENCY, CACHE, LINK = "roofline", "latency", "in cache", "host link"


@dataclass(frozen=True)
class Bound:
    """A least time, and what to know of it."""

    seconds: float | None  # None where nothing is known
    bytes_bind: bool  # whether bytes are the limit
    note: str = ""
    whole: bool = True  # whether the bytes are in it, and not the operations alone
    at_memory: float = 0.0  # [s] the same, were all bytes moved from memory
    needs: str = ""  # ``12 MB need at the measured 4.1 TB/s``

    @property
    def shown(self) -> float | None:
        """The bound where all of it is known [s]."""
        return self.seconds if self.whole else None


@dataclass(frozen=True)
class Work:
    """What is to be done: bytes, how many of them written (None: unknown), operations by unit."""

    bytes: float
    written: float | None
    operations: float
    unit: str
    others: dict[str, float]


def of_problem(case: Case) -> Work:
    """The least for any method."""
    best = case.best_operations or case.operations
    unit = case.best_unit or case.unit
    written = written_share(case) * case.bytes
    moved = needed_bytes(case)
    share = written / moved if moved else 0.0
    return Work(moved, share, best, unit, case.other_operations)


def of_method(case: Case) -> Work:
    """The least for this method. Passes over the same arrays have the mix of one."""
    moved = case.moved_bytes
    same = moved in (case.bytes, case.bytes * steps(case))
    written = written_share(case) if same else None
    operations = case.method_operations or case.operations
    return Work(moved, written, operations, case.unit, case.other_operations)


def amount(value: float, unit: str) -> str:
    """``4.1 TB/s``, ``12 MB``."""
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{plain(value / size)} {prefix}{unit}"
    return f"{plain(value)} {unit}"


def link_bound(case: Case, ceilings: Ceilings | None) -> Bound:
    """Of what crosses the links between GPUs."""
    link = ceilings.links.get(case.devices) if ceilings else None
    if not link:
        return Bound(None, True, "links not measured")
    text = f"{amount(case.bytes, 'B')} need at the measured {amount(link, 'B/s')}"
    return Bound(case.bytes / link, True, needs=text, at_memory=case.bytes / link)


def data_rate(case: Case, ceilings: Ceilings, work: Work) -> float | None:
    """The bandwidth of the data of a case on all its devices [bytes per second]; None where it was not measured at their size."""
    found = (
        ceilings.at_size(work.written, data_bytes(case))
        if may_be_cached(case)
        else ceilings.from_memory(work.written)
    )
    return found * parts(case) if found else None


def roofline_bound(case: Case, ceilings: Ceilings | None, work: Work) -> Bound:
    """The roofline bound of this work on the devices of a case."""
    if crosses_links(case):
        return link_bound(case, ceilings)
    guess = work.operations <= BALANCE * work.bytes
    if ceilings is None or not (work.bytes or work.operations):
        return Bound(None, guess)
    if work.bytes and not ceilings.bandwidth:
        return Bound(None, guess, "no bandwidth ceiling")
    working, what = working_time(case, ceilings, work)
    devices = parts(case)
    memory = ceilings.from_memory(work.written) * devices
    if work.bytes and not memory:
        return Bound(working, guess, "no bandwidth ceiling of this mix", False)
    at_memory = work.bytes / memory if work.bytes else 0.0
    slowest = min(ceilings.rates.values(), default=0.0)
    if working is None:
        # A bound is given only where bytes surely are the limit: at the slowest rate known.
        surely = (
            at_memory >= work.operations / (slowest * devices) if slowest else guess
        )
        if not surely or not at_memory:
            return Bound(None, False, f"no {work.unit} ceiling")
        working = 0.0
    estimate = max(at_memory, working)
    if not work.bytes:
        return Bound(working, False, at_memory=estimate, needs=what)
    rate = data_rate(case, ceilings, work)
    if rate is None and at_memory >= working:
        text = f"no bandwidth measured at {amount(data_bytes(case), 'B')}"
        return Bound(working or None, True, text, False, estimate, what)
    moving = work.bytes / rate if rate else 0.0
    if working > moving:
        return Bound(working, False, at_memory=estimate, needs=what)
    note = "ceiling measured in cache" if ceilings.cached and not in_cache(case) else ""
    text = (
        f"{amount(work.bytes, 'B')} need at the measured {amount(rate or 0.0, 'B/s')}"
    )
    return Bound(moving, True, note, at_memory=estimate, needs=text)


def working_time(
    case: Case, ceilings: Ceilings, work: Work
) -> tuple[float | None, str]:
    """The longest that operations of one unit take [s], None where the unit's rate is not known; and which."""
    found = [(0.0, "")]
    for unit, count in {**work.others, work.unit: work.operations}.items():
        rate = ceilings.rate(unit)
        if not count or (rate is None and unit in work.others):
            continue
        if rate is None:
            return None, ""
        rate *= parts(case)
        text = f"{amount(count, ' operations')} in {unit} need at the measured"
        found.append((count / rate, f"{text} {amount(rate, 'op/s')}"))
    return max(found)


def problem_bound(case: Case, ceilings: Ceilings | None) -> Bound:
    """The time that no method can beat."""
    return roofline_bound(case, ceilings, of_problem(case))


def method_bound(case: Case, ceilings: Ceilings | None) -> Bound:
    """The least time of the method of a case."""
    return roofline_bound(case, ceilings, of_method(case))


def starts(case: Case) -> int:
    """The number of launches or league barriers: one for all steps on moments."""
    return 1 if case.method.startswith("moments") else steps(case)


def in_one_team(case: Case) -> bool:
    """Whether one team, or one cluster of teams, takes all steps in one kernel."""
    alone = case.device_kind == "host" or case.effective.get("league") == 1
    return case.method in ("persistent_cluster", "dual") or (
        case.method in ("persistent", "persistent_segments") and alone
    )


def waiting(case: Case, found: Ceilings) -> float:
    """The shortest time that starting its steps takes [s]; 0 where no latency was measured.

    A barrier of fewer teams is shorter, so that those of larger leagues do not count for a kernel of all
    steps. How many threads of a host a solve wakes is not recorded.
    """
    count = starts(case)
    if in_one_team(case):
        return 0.0 if case.device_kind == "host" else count * found.team_latency
    if (
        case.device_kind == "host"
    ):  # a launch is a parallel region of any number of teams
        return count * min(found.start, found.latency)
    league = case.effective.get("league")
    if case.method.startswith("persistent") and league:
        known = [t for teams, t in found.barriers.items() if teams <= league]
        return count * min(known, default=found.team_latency)
    return count * (found.latency if count > 1 else found.start or found.latency)


def latency_bound(case: Case, ceilings: Ceilings | None) -> float | None:
    """The shortest time that starting its steps and waiting in them takes [s]; None where no latency was measured."""
    found = ceilings or Ceilings()
    chain = found.chain_seconds(case.chain, case.device_name)
    return max(waiting(case, found), chain) or None


def problem_latency(cases: Iterable[Case], ceilings: Ceilings | None) -> float:
    """The shortest time that a problem takes to start, of the ways that its variants take [s]; 0 where none was measured."""
    found = ceilings or Ceilings()
    every = list(cases)
    if any(case.algorithm in STEPLESS for case in every):
        return found.start
    return min((waiting(case, found) for case in every), default=found.start)


def short_steps(case: Case, bound: Bound, latency: float | None, time: float) -> bool:
    """Whether a case that took this long is bound by latency and not by what it moves or computes [s]."""
    if latency is not None:
        return bound.at_memory < latency
    return bound.at_memory < starts(case) * SHORT_STEP and time > FAR * bound.at_memory


def limit_of(case: Case, bound: Bound, ceilings: Ceilings | None, time: float) -> str:
    """What limits a case that took this long [s], by the bound of its method; empty where too little is known."""
    fed = case.metric == "host_time" or COPIES & case.stages.keys()
    if case.device_kind == "gpu" and fed:
        return LINK
    latency = latency_bound(case, ceilings)
    if bound.at_memory and short_steps(case, bound, latency, time):
        return LATENCY
    if bound.bytes_bind and in_cache(case):
        return CACHE
    return ROOFLINE if bound.seconds else ""


def impossible(case: Case, bound: Bound, time: float) -> str:
    """Why a case cannot have taken so little time [s], by the bound of its problem; empty where it can."""
    share = IMPOSSIBLE_ON_HOST if case.device_kind == "host" else IMPOSSIBLE
    if bound.seconds is None or time >= share * bound.seconds:
        return ""
    least = f"less than {share:g} of the {seconds(bound.seconds)}"
    return f"takes {seconds(time)}, {least} that {bound.needs}"
