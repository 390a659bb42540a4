# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The contract of a peer: a class in algorithms/<algorithm>/peers/<model>.py, one variant, like `Prepared` in C++.

Listing only parses peer files: the class attributes below are literals there. A worker imports one, with
its libraries; a variant whose libraries cannot be imported is skipped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from .kept import perf_counter

if TYPE_CHECKING:  # listing needs no library
    import numpy as np

    from .stages import Stages

Arrays = Mapping[str, "np.ndarray"]
Parameters = Mapping[str, "int | float | str"]


class Unsupported(Exception):
    """What this device, library or memory cannot do: the case becomes a skipped row with this reason."""


@dataclass(frozen=True)
class Device:
    """A GPU by its ordinal, or the host; ``threads`` are those of the host that a case may use."""

    kind: str = "host"
    index: int = 0
    threads: int = 1
    memory_bytes: int = 0  #: memory budget of a case; 0: no limit
    indices: tuple[int, ...] = ()  #: of several GPUs, the first of them `index`


class Peer(ABC):
    """One variant on one problem; owns its device memory."""

    #: Name of the variant: how the library is used. A class that sets it is a variant.
    method: ClassVar[str]
    description: ClassVar[str]
    dtypes: ClassVar[tuple[str, ...]] = ("f32",)
    #: "host" or "gpu": the device it runs on, and the clock it is timed by.
    kind: ClassVar[str] = "host"
    #: (type, arithmetic unit) where it is not that of the algorithm's first method: ("f32", "tf32 tensor").
    units: ClassVar[tuple[tuple[str, str], ...]] = ()
    #: The problem, if an algorithm has several that are not compared.
    problem: ClassVar[str] = ""
    # : Parameters supported at one value only: ("memory", "device"); other cases are
    # skipped.
    only: ClassVar[tuple[tuple[str, int | float | str], ...]] = ()
    # : Whether the first compute compiles or initialises a library: an additional one
    # precedes the check.
    warm_up: ClassVar[bool] = True
    # : Whether a compute destroys its initial state: reset before each, one compute per
    # sample.
    reset_each: ClassVar[bool] = False
    # : (output, how it was computed) if the error bound depends on it: ("squared",
    # "expanded").
    forms: ClassVar[tuple[tuple[str, str], ...]] = ()

    #: Inputs whose rows can be split over several devices, a peer on each (several.py).
    split: ClassVar[tuple[str, ...]] = ()
    #: Whether it takes several devices itself (`Device.indices`).
    several: ClassVar[bool] = False

    #: In a traced pass, told where a stage ends: ``if self.trace: self.trace.end("forward")``.
    trace: Stages | None = None

    def __init__(
        self,
        inputs: Arrays,
        parameters: Parameters,
        device: Device,
    ) -> None:
        """Untimed. ``inputs`` are those that --save-inputs writes, ``parameters`` all that the
        algorithm has and ``dtype``. Raises Unsupported."""
        for name, value in self.only:
            if parameters.get(name, value) != value:
                raise Unsupported(f"takes {name} = {value} only")
        self.inputs = inputs
        self.parameters = parameters
        self.device = device
        #: Inputs as they were given to `DevicePeer.to_device`, and where they went.
        self.placed: list[tuple[np.ndarray, Any]] = []

    def builds(self) -> bool:
        """Whether the first compute of each object compiles or captures: no cold end-to-end time."""
        return False

    def upload(self) -> None:
        """Copies inputs from shared memory to where compute needs them (to a device by `to_device` of
        device_peer.py); may be asynchronous. Called again on a host, which then has new arrays."""

    def reset(self) -> None:
        """Untimed: sets the initial state; drops or poisons earlier results."""

    @abstractmethod
    def compute(self) -> None:
        """The timed operation; asynchronous if the library is. The first, which may compile, is untimed."""

    def fence(self) -> None:
        """Waits for all submitted work."""

    @abstractmethod
    def download(self) -> Mapping[str, Any]:
        """Results by the names of the problem's outputs, in their types and shapes."""

    def mark(self) -> Any:
        """A point in time, or in the submitted work."""
        return perf_counter()

    def between(self, begin: Any, end: Any) -> float:
        """Seconds between two marks that were reached."""
        return float(end - begin)

    def hold_back(self) -> None:
        """Holds submitted work back for a moment, where that can be."""

    def time(self, count: int) -> float:
        """Seconds of one compute, the mean over ``count``, by the clock of its kind. A case fails if
        these times contradict League's own clock."""
        return self.latency(count)

    def latency(self, count: int = 1) -> float:
        """Seconds of one compute on the host's clock, from before the first launch to after the fence."""
        begin = perf_counter()
        for _ in range(count):
            self.compute()
        self.fence()
        return (perf_counter() - begin) / count


class HostPeer(Peer):
    """On the CPU, with the threads of its library."""

    warm_up: ClassVar[bool] = False


class NumbaPeer(HostPeer):
    """Compiled for the CPU by Numba, whose threads are those of the device."""

    warm_up: ClassVar[bool] = True
