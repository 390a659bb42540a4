# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A peer timed from NumPy arrays on the host to NumPy arrays on the host (bench/README.md, end-to-end time).

Arrays on the host, inputs and results, are there and touched before a pass; those on the device are kept
(a warm pass) or made anew (a cold one). Each pass is a total and its parts, in seconds of the host's clock.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from .device_peer import DevicePeer, Landing, kind_of
from .host_memory import assign
from .kept import perf_counter
from .peer import Arrays, Peer, Unsupported

Times = dict[str, float]


class HostArrays:
    """The host's side of all passes of a variant: inputs and results in one kind of memory."""

    def __init__(self, peer: Peer, memory: str) -> None:
        self.memory = memory
        self.outputs: list[np.ndarray] = []  #: results go there, if all of them do
        self.results: list[np.ndarray] = []
        self.turn = 0  #: the next of them
        self.sources: list[np.ndarray] = []
        if isinstance(peer, DevicePeer):
            self.sources = [self.copy_of(peer, array) for array, _ in peer.placed]

    def room(self, peer: Peer, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        """An array in this kind of memory. Raises Unsupported where the library has none."""
        if self.memory != "pinned":
            return np.empty(shape, dtype)
        room = peer.pinned(shape, dtype) if isinstance(peer, DevicePeer) else None
        if room is None:
            raise Unsupported("its library has no pinned memory for NumPy arrays")
        return room

    def copy_of(self, peer: Peer, array: np.ndarray) -> np.ndarray:
        """In this kind of memory."""
        copy = self.room(peer, *kind_of(array))
        assign(copy, array)
        return copy

    def take(self, peer: DevicePeer, result: Any) -> np.ndarray:
        """The array that this result went to in earlier passes, with its values."""
        if self.turn == len(self.results):
            self.results.append(self.room(peer, *kind_of(result)))
        array = self.results[self.turn]
        self.turn += 1
        peer.fetch_into(array, result)
        return array

    def upload(self, peer: Peer) -> None:
        """Copies all inputs into the arrays on the device, and waits."""
        if isinstance(peer, DevicePeer):
            for (_, to), source in zip(peer.placed, self.sources, strict=True):
                peer.copy_in(to, source)
            peer.fence()

    def download(self, peer: Peer) -> None:
        """Copies all results into the arrays of earlier passes."""
        self.turn = 0
        landing = Landing(self.outputs)
        if isinstance(peer, DevicePeer):
            peer.kept = landing if self.outputs else self
        try:
            for result in peer.download().values():
                np.asarray(result)
        finally:
            if isinstance(peer, DevicePeer):
                peer.kept = None
        if landing.missed:
            self.outputs = []


def computed(peer: Peer, host: HostArrays) -> Times:
    """The pass after the upload: all of it on a host, whose arrays are where compute needs them."""
    begin = perf_counter()
    peer.compute()
    peer.fence()
    middle = perf_counter()
    host.download(peer)
    end = perf_counter()
    parts = {"compute": middle - begin, "download": end - middle}
    return {"seconds": end - begin, **parts}


def with_upload(seconds: float, rest: Times) -> Times:
    """The whole pass."""
    return {**rest, "upload": seconds, "seconds": rest["seconds"] + seconds}


def warm(peer: Peer, host: HostArrays) -> Times:
    """A pass with the arrays that the peer has."""
    if peer.kind != "gpu":
        return computed(peer, host)
    begin = perf_counter()
    host.upload(peer)
    seconds = perf_counter() - begin
    return with_upload(seconds, computed(peer, host))


def cold(peer: Peer, host: HostArrays) -> Times:
    """The first pass of a new peer; its upload allocates. On a host its results are in untouched memory."""
    if isinstance(peer, DevicePeer):
        peer.release()
    begin = perf_counter()
    peer.upload()
    peer.fence()
    seconds = perf_counter() - begin
    peer.reset()
    peer.fence()
    if peer.kind == "gpu":
        return with_upload(seconds, computed(peer, host))
    peer.upload()  # `reset` has touched the arrays: these are new
    peer.fence()
    return computed(peer, host)


class Holder(Protocol):
    """Whoever calls the peer; a cold pass replaces it."""

    peer: Peer


class Passes:
    """Times passes in one kind of host memory; ``make`` makes a new peer of some inputs."""

    def __init__(
        self, holder: Holder, memory: str, make: Callable[[Arrays], Peer]
    ) -> None:
        self.holder, self.make = holder, make
        peer = holder.peer
        self.host = HostArrays(peer, memory)
        self.inputs = {n: self.host.copy_of(peer, a) for n, a in peer.inputs.items()}
        warm(peer, self.host)  # makes the arrays of the results

    def timed(self, fresh: bool) -> Times:
        """One pass, without garbage collection in between."""
        if fresh:
            if self.holder.peer.builds():
                raise Unsupported("it compiles or captures anew for new arrays")
            del self.holder.peer
            self.holder.peer = self.make(self.inputs)
        gc.collect()
        gc.disable()
        try:
            return (cold if fresh else warm)(self.holder.peer, self.host)
        finally:
            gc.enable()


def transfers(peer: Peer, outputs: Sequence[np.ndarray] = ()) -> Times:
    """Of the inputs up and the results down, in pinned memory where the library has it: results to ``outputs``,
    which are page-locked, or to arrays of its own. @pre it has computed"""
    if not isinstance(peer, DevicePeer) or peer.kind != "gpu":
        return {}
    try:
        host = HostArrays(peer, "pinned")
    except Unsupported:
        host = HostArrays(peer, "pageable")
    host.outputs = list(outputs)
    host.upload(peer)
    host.download(peer)
    begin = perf_counter()
    host.upload(peer)
    middle = perf_counter()
    host.download(peer)
    return {"upload": middle - begin, "download": perf_counter() - middle}
