# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The measured peaks of a device: bandwidths by traffic and size, rates by unit, links, latencies.

Bandwidths and rates are the records of the algorithm ``ceilings`` on the same kind and model of
device; Python peers set no peak. A bandwidth depends on the share of the bytes that is written
(a copy writes half of them, an add a third), and on whether the data stay in a cache.

- From memory, the peak of a share is the best over methods and models. Own variants of
  ``vector_add`` and ``sum``, which do nothing but move data, raise it where they are faster than the
  kernel of ``ceilings`` with the same share, at most to the best bandwidth of any share and its margin.
- Of data below ``CACHES`` last-level caches, it is the bandwidth measured at that many bytes: the
  larger of the two sizes around, and none beyond the smallest and the largest. What a launch takes is
  subtracted there, so that kernels in a graph, which start faster, cannot beat it.
- Between two shares that were measured, the larger peak counts.

A multiply-add counts two operations. Tensor cores are measured with constant and with random
operands, and only the constant ones count. A unit that was not measured takes the rate of the next
faster one that was: so its bound stays a floor.

Latencies are the minimum that ``overheads`` measured: of a launch, of a launch or a barrier of several
teams, of a reduction over one team.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from .case import Case
from .kinds import PEER
from .options import MARGIN
from .statistics import median
from .traffic import crosses_links, data_bytes, in_cache, is_resident, written_share

BANDWIDTHS = ("copy", "read", "write", "add", "triad", "dot")
STREAMS = ("vector_add", "sum")  # algorithms that only move data
LAUNCHES = {"launch", "kernel"}  # of overheads
START = 1e-6  # [s] about what a launch takes, where no latency was measured
STEADY = 1.25  # median over fastest sample, up to which a peak is steady
UNSTEADY = 0.1  # share of a device's peaks that may be unsteady
CHAIN_CYCLES = 4  # of a multiply-add that waits for another, NVIDIA's compute capability 7.0 to 10.0
#: units that are at least as fast, the slowest first
FASTER = {
    "tf32 tensor": ("f16 tensor", "bf16 tensor", "u8 tensor"),
    "f16 tensor": ("bf16 tensor", "u8 tensor"),
    "bf16 tensor": ("f16 tensor", "u8 tensor"),
}


@dataclass(frozen=True)
class Traffic:
    """A bandwidth that was measured."""

    written: float  # share of the bytes
    data: float  # bytes of the arrays
    rate: float  # [bytes per second]
    cached: bool  # the data may stay in the last-level cache


@dataclass
class Ceilings:
    """Peaks of one device, per second; 0 or nothing where nothing was measured."""

    traffic: list[Traffic] = field(default_factory=list)
    rates: dict[str, float] = field(default_factory=dict)  # by unit
    links: dict[int, float] = field(default_factory=dict)  # by number of devices
    start: float = 0.0  # of a kernel, of however many teams [s]
    stream_start: float = 0.0  # of a kernel that is not in a graph [s]
    league_start: float = 0.0  # of a kernel of several teams [s]
    barriers: dict[int, float] = field(default_factory=dict)  # by number of teams [s]
    team_latency: float = 0.0  # of a reduction over one team [s]
    clock_hz: float = 0.0  # the fastest that was read
    measured: int = 0  # cases of `ceilings`
    unsteady: int = 0  # of them, whose samples differ much

    @property
    def steady(self) -> bool:
        """Whether its peaks can fail a case: those of a busy machine may be a hundredth of what it can do."""
        return self.unsteady <= UNSTEADY * self.measured

    @property
    def bandwidth(self) -> float:
        """The best of all, from memory where that was measured."""
        memory = [one.rate for one in self.traffic if not one.cached]
        return max(memory or [one.rate for one in self.traffic], default=0.0)

    @property
    def latency(self) -> float:
        """Of a step that a league takes together, by a launch or by a barrier [s]; 0 where neither was measured."""
        launch = self.league_start or self.start
        found = [*filter(None, [launch]), *self.barriers.values()]
        return min(found, default=0.0)

    @property
    def cached(self) -> bool:
        """Whether only bandwidths of data in the cache were measured."""
        return bool(self.traffic) and all(one.cached for one in self.traffic)

    def rate(self, unit: str) -> float | None:
        """Operations of a unit, or of the next faster one that was measured."""
        known = (self.rates.get(one) for one in (unit, *FASTER.get(unit, ())))
        return next(filter(None, known), None)

    def from_memory(self, written: float | None) -> float:
        """The peak of data in memory with this share written (None: of any), 0 where it was not measured.

        Without any measurement from memory, it is that of the cache.
        """
        memory = [one for one in self.traffic if not one.cached]
        if written is None or not memory:
            return self.bandwidth
        return peak(written, {one.written for one in memory}, memory) or 0.0

    def at_size(self, written: float | None, data: float) -> float | None:
        """The peak of so many bytes of data; None where it was not measured there."""
        if written is None:
            shares = {one.written for one in self.traffic}
            found = [self.at_size(one, data) for one in shares]
            known = [one for one in found if one]
            return max(known) if known and len(known) == len(found) else None
        shares = {one.written for one in self.traffic}
        around = [
            point
            for share in shares
            for point in neighbours(
                data, [one for one in self.traffic if one.written == share]
            )
        ]
        return peak(written, shares, around)

    def chain_seconds(self, chain: float, name: str) -> float:
        """What so many dependent multiply-adds take at least [s]; 0 where that is not known."""
        known = self.clock_hz and name.startswith("NVIDIA")
        return chain * CHAIN_CYCLES / self.clock_hz if known else 0.0


def neighbours(data: float, points: list[Traffic]) -> list[Traffic]:
    """The best of the next smaller and of the next larger size; none where one is missing."""
    below = max((one.data for one in points if one.data <= data), default=None)
    above = min((one.data for one in points if one.data >= data), default=None)
    if below is None or above is None:
        return []
    return [one for one in points if one.data in (below, above)]


def peak(written: float, shares: set[float], points: list[Traffic]) -> float | None:
    """The best of this share, or of the shares on both sides; None where one has no points."""
    below = max((one for one in shares if one <= written), default=None)
    above = min((one for one in shares if one >= written), default=None)
    if below is None or above is None:
        return None
    found = [
        max((one.rate for one in points if one.written == share), default=0.0)
        for share in (below, above)
    ]
    return max(found) if all(found) else None


def take_latency(case: Case, device: Ceilings) -> None:
    """Enters the time of a case of ``overheads`` into the latencies of its device."""
    latency = median(case.samples)
    teams = case.sizes.get("teams", 1)
    several = teams > 1
    if case.method in LAUNCHES:
        device.start = min(latency, device.start or latency)
        if several:
            device.league_start = min(latency, device.league_start or latency)
        if case.execution == "stream":
            device.stream_start = min(latency, device.stream_start or latency)
    if several and case.method == "league_barrier":
        known = device.barriers.get(teams, latency)
        device.barriers[teams] = min(latency, known)
    if case.method == "team_reduction":
        device.team_latency = min(latency, device.team_latency or latency)


def take_rate(case: Case, device: Ceilings) -> None:
    """Enters a case of ``ceilings`` that calculates."""
    if case.parameters.get("operands", "constant") == "constant":
        rate = case.operations / median(case.samples)
        device.rates[case.unit] = max(rate, device.rates.get(case.unit, 0.0))


def take_traffic(case: Case, device: Ceilings) -> None:
    """Enters a case of ``ceilings`` that moves data; of short kernels, without their start."""
    time, cached = median(case.samples), in_cache(case)
    start = (device.stream_start or START) if cached else 0.0
    if case.bytes and time > 2 * start:
        rate = case.bytes / (time - start)
        share = written_share(case)
        device.traffic.append(Traffic(share, data_bytes(case), rate, cached))


def raise_traffic(case: Case, device: Ceilings) -> None:
    """Enters an own case that only moves data from memory, at most at the best bandwidth of ``ceilings``."""
    share, limit = written_share(case), device.bandwidth * (1 + MARGIN)
    if device.from_memory(share) and not device.cached and not in_cache(case):
        rate = min(case.bytes / median(case.samples), limit)
        device.traffic.append(Traffic(share, data_bytes(case), rate, False))


def take_links(cases: Iterable[Case], of: Callable[[Case], Ceilings]) -> None:
    """Enters the best bus bandwidth of any collective, for as many devices as ``exchange`` was measured on."""
    every = list(cases)
    for case in every:
        if case.method == "exchange":
            of(case).links.setdefault(case.devices, 0.0)
    for case in every:
        links = of(case).links
        if case.devices in links:
            rate = case.bytes / median(case.samples)
            links[case.devices] = max(rate, links[case.devices])


def measured_ceilings(cases: Iterable[Case]) -> dict[tuple[str, str], Ceilings]:
    """The peaks of each (kind, name) of device, from passed cases of compiled models."""
    found: dict[tuple[str, str], Ceilings] = {}
    usable = [
        case
        for case in cases
        if case.status == "passed" and not case.null and case.kind != PEER
    ]

    def of(case: Case) -> Ceilings:
        return found.setdefault((case.device_kind, case.device_name), Ceilings())

    alone = [case for case in usable if case.devices == 1]
    take_links(filter(crosses_links, usable), of)
    for case in alone:
        if case.algorithm == "overheads":
            take_latency(case, of(case))
    for case in alone:
        if case.algorithm == "ceilings":
            take = take_traffic if case.method in BANDWIDTHS else take_rate
            take(case, of(case))
            of(case).measured += 1
            of(case).unsteady += median(case.samples) > STEADY * min(case.samples)
    for case in usable:
        if device := found.get((case.device_kind, case.device_name)):
            device.clock_hz = max(device.clock_hz, case.clock_hz)
            if case.devices == 1 and case.algorithm in STREAMS and is_resident(case):
                raise_traffic(case, device)
    return found
