# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A peer on several devices: one of its kind per device, each with a share of the rows and a thread of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from . import end_to_end
from .peer import Arrays, Device, Parameters, Peer

T = TypeVar("T")


class Holder:
    """A peer on one device, its arrays, and the thread that calls it: a library's current device is the thread's."""

    def __init__(self, made_from: type[Peer], parameters: Parameters, device: Device):
        self.thread = ThreadPoolExecutor(1)
        self.made_from, self.parameters, self.device = made_from, parameters, device
        self.passes: end_to_end.Passes | None = None

    def make(self, inputs: Arrays) -> Peer:
        return self.made_from(inputs, self.parameters, self.device)

    def place(self, inputs: Arrays) -> None:
        self.peer = self.make(inputs)

    def timed(self, memory: str, fresh: bool) -> end_to_end.Times:
        if self.passes is None or self.passes.host.memory != memory:
            self.passes = end_to_end.Passes(self, memory, self.make)
        return self.passes.timed(fresh)


class Split(Peer):
    """Splits the inputs that ``made_from.split`` names by rows; concatenates all outputs.

    A device without rows takes no part. Timed by the host's clock: the slowest device decides.
    """

    kind = "gpu"

    def __init__(
        self,
        made_from: type[Peer],
        inputs: Arrays,
        parameters: Parameters,
        device: Device,
    ) -> None:
        super().__init__(inputs, parameters, device)
        for name in ("warm_up", "reset_each", "forms"):
            setattr(self, name, getattr(made_from, name))
        rows = len(inputs[made_from.split[0]])
        ends = [rows * i // len(device.indices) for i in range(len(device.indices) + 1)]
        self.holders: list[Holder] = []
        for index, first, last in zip(device.indices, ends, ends[1:], strict=False):
            if last == first and rows > 0:
                continue
            part = {n: inputs[n][first:last] for n in made_from.split}
            one = dataclasses.replace(device, index=index, indices=())
            holder = Holder(made_from, parameters, one)
            self.holders.append(holder)
            holder.thread.submit(holder.place, {**inputs, **part}).result()

    def on_each(self, call: Callable[[Holder], T]) -> list[T]:
        """Its results on all devices, at the same time."""
        pending = [h.thread.submit(call, h) for h in self.holders]
        return [future.result() for future in pending]

    def upload(self) -> None:
        self.on_each(lambda holder: holder.peer.upload())

    def reset(self) -> None:
        self.on_each(lambda holder: holder.peer.reset())

    def compute(self) -> None:
        self.on_each(lambda holder: holder.peer.compute())

    def fence(self) -> None:
        self.on_each(lambda holder: holder.peer.fence())

    def download(self) -> Mapping[str, Any]:
        parts = self.on_each(lambda holder: dict(holder.peer.download()))
        return {n: np.concatenate([p[n] for p in parts]) for n in parts[0]}

    def timed(self, memory: str, fresh: bool) -> end_to_end.Times:
        """One end-to-end pass: the total and each part of the slowest device."""
        times = self.on_each(lambda holder: holder.timed(memory, fresh))
        return {name: max(one[name] for one in times) for name in times[0]}
