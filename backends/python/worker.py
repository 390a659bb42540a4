# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One peer in a process of its own: called line by line of JSON over a socket, arrays in shared memory.

Usage: python -m backends.python.worker SOCKET (the number of an open socket); see process.hpp and
bench/peers/peer.cpp for the other side. The peer's output goes to stderr, which the other side keeps.
"""

from __future__ import annotations

import functools
import gc
import json
import math
import mmap
import os
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any

import numpy as np

from . import driver, end_to_end, own, stages
from .device_peer import DevicePeer, Landing
from .digests import digest_of_all
from .host_memory import assign
from .kept import sleep
from .peer import Arrays, Device, Peer, Unsupported
from .several import Split

DTYPES = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "i64": "<i8", "u8": "|u1"}
REST_S = 5e-3
LARGE = 64 << 20  #: bytes of outputs that are worth locking
MAX_FILES = 4  # with a call
OUT_OF_MEMORY = ("MemoryError", "OutOfMemoryError", "_ArrayMemoryError")
XLA_OUT_OF_MEMORY = "RESOURCE_EXHAUSTED: Out of memory"


def mapped(
    shared: dict[str, Any], file: int, access: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The memory of an open file, which is closed, as bytes and as name -> array."""
    memory = mmap.mmap(file, shared["bytes"], access=access)
    os.close(file)
    arrays = {
        array["name"]: np.ndarray(
            array["shape"], DTYPES[array["dtype"]], memory, array["offset"]
        )
        for array in shared["arrays"]
    }
    return np.frombuffer(memory, np.uint8), arrays


def matching(
    results: Any, outputs: dict[str, np.ndarray]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Each output of the problem and its result. Raises ValueError unless names, types and shapes match."""
    if set(results) != set(outputs):
        raise ValueError(f"outputs are {sorted(results)}, not {sorted(outputs)}")
    for name, to in outputs.items():
        values = np.asarray(results[name])
        if (values.dtype, values.shape) != (to.dtype, to.shape):
            what = f"'{name}' is {values.dtype}{list(values.shape)}"
            raise ValueError(f"{what}, not {to.dtype}{list(to.shape)}")
        yield to, values


def copy_outputs(results: Any, outputs: dict[str, np.ndarray]) -> None:
    """Fills the problem's outputs. Raises what `matching` raises."""
    for to, values in matching(results, outputs):
        if values is not to:
            assign(to, values)


def finite(seconds: Any) -> float:
    """A time as JSON can carry it. Raises TypeError unless it is a finite number."""
    number = isinstance(seconds, Real) and not isinstance(seconds, bool)
    if not number or not math.isfinite(seconds):
        raise TypeError(f"it reports {seconds!r:.100} as the seconds of a compute")
    return float(seconds)


def message(error: Exception) -> str:
    """The message; bytes of file names that are not UTF-8 are escaped for JSON."""
    return str(error).encode("utf-8", "backslashreplace").decode("utf-8")


def exhausted(error: Exception) -> bool:
    """Whether memory was lacking; XLA has no type of its own for that."""
    named = type(error).__name__ in OUT_OF_MEMORY
    return named or message(error).startswith(XLA_OUT_OF_MEMORY)


class Worker:
    """Each method is a call."""

    peer: Peer
    pages = np.empty(0, np.uint8)  #: the memory of the outputs
    locked = False  #: whether it is page-locked
    make: Callable[[Arrays], Peer]  #: a new peer of some inputs
    passes: end_to_end.Passes | None = None
    queued: tuple[int, Any]  #: computes, and the mark before the first

    def load(self, request: dict[str, Any]) -> None:
        """Imports a peer file with its libraries, before any case is prepared."""
        driver.load(request["algorithm"], request["model"])

    def prepare(self, request: dict[str, Any]) -> dict[str, Any]:
        """Imports and makes the peer; it cannot change the shared inputs."""
        of_inputs, of_outputs = request["files"]
        self.pages, self.outputs = mapped(
            request["outputs"], of_outputs, mmap.ACCESS_WRITE
        )
        _, inputs = mapped(request["inputs"], of_inputs, mmap.ACCESS_COPY)
        device, parameters = Device(**request["device"]), request["parameters"]
        if "own" in request:
            call = request["own"]
            self.peer = own.own_peer(call, inputs, parameters, device, self.outputs)
        else:
            module = driver.load(request["algorithm"], request["model"])
            made_from = driver.variants(module)[request["method"]]
            splits = device.indices and not made_from.several
            make = functools.partial(Split, made_from) if splits else made_from
            self.make = functools.partial(make, parameters=parameters, device=device)
            self.peer = self.make(inputs)
        self.locked = self.lock_outputs()
        self.warm = not self.peer.warm_up
        return {"reset_each": self.peer.reset_each, "forms": dict(self.peer.forms)}

    def lock_outputs(self) -> bool:
        """Page-locks large outputs, where the library can: GPUs copy to them at ten times the rate."""
        peer, large = self.peer, self.pages.nbytes >= LARGE
        return isinstance(peer, DevicePeer) and large and peer.lock_pages(self.pages)

    def upload(self, _: dict[str, Any]) -> None:
        self.peer.upload()

    def reset(self, _: dict[str, Any]) -> None:
        self.peer.reset()
        if not self.warm:
            self.peer.compute()
            self.peer.fence()
            self.peer.reset()
            self.warm = True

    def compute(self, request: dict[str, Any]) -> None:
        for _ in range(request.get("count", 1)):
            self.peer.compute()

    def fence(self, _: dict[str, Any]) -> None:
        self.peer.fence()

    def download(self, _: dict[str, Any]) -> None:
        if not isinstance(self.peer, DevicePeer):
            return copy_outputs(self.peer.download(), self.outputs)
        self.peer.kept = Landing(self.outputs.values())
        try:
            copy_outputs(self.peer.download(), self.outputs)
        finally:
            self.peer.kept = None

    def digest(self, _: dict[str, Any]) -> dict[str, Any]:
        """Of the results of the last compute, which need not be downloaded; the shared outputs stay."""
        if isinstance(self.peer, own.NumpyFunction):
            return {"digest": str(self.peer.inspector.digest())}
        pairs = matching(self.peer.download(), self.outputs)
        return {"digest": str(digest_of_all(values for _, values in pairs))}

    def inspect(self, request: dict[str, Any]) -> dict[str, Any]:
        """As `SelfTimed::inspect`; of our own peers none: what they captured may hold their inputs."""
        if not isinstance(self.peer, own.NumpyFunction):
            return {"digest": None}
        inspect = self.peer.inspector.inspect
        digest = inspect(request["before"], int(request["draw"]))
        return {"digest": None if digest is None else str(digest)}

    def paces(self, request: dict[str, Any]) -> dict[str, Any]:
        """As `SelfTimed::paces`; of our own peers none."""
        if not isinstance(self.peer, own.NumpyFunction):
            return {"parts": {}}
        paces = self.peer.inspector.paces
        same, altered = paces(int(request["draw"]), request["pairs"])
        return {"parts": {"same": same, "altered": altered}}

    def transfers(self, _: dict[str, Any]) -> dict[str, Any]:
        """Of a GPU's case; without times where they cannot be measured: the case itself goes on."""
        try:
            outputs = list(self.outputs.values()) if self.locked else []
            return {"parts": end_to_end.transfers(self.peer, outputs)}
        except Exception:  # noqa: BLE001
            traceback.print_exc()
            return {"parts": {}}

    def stages(self, _: dict[str, Any]) -> dict[str, Any]:
        """Of one more compute; empty where it has no parts."""
        return {"parts": stages.traced(self.peer)}

    def end_to_end(self, request: dict[str, Any]) -> dict[str, Any]:
        """One pass from inputs to results on the host; the peer is a new one after a cold pass."""
        memory = request["memory"]
        if isinstance(self.peer, Split):
            times = self.peer.timed(memory, request["cold"])
            return {"seconds": times.pop("seconds"), "parts": times}
        if self.passes is None or self.passes.host.memory != memory:
            self.passes = None
            self.passes = end_to_end.Passes(self, memory, self.make)
        times = self.passes.timed(request["cold"])
        return {"seconds": times.pop("seconds"), "parts": times}

    def time(self, request: dict[str, Any]) -> dict[str, Any]:
        seconds = self.measured(request, lambda: self.peer.time(request["count"]))
        return {"seconds": seconds, "held": bool(getattr(self.peer, "held", False))}

    def queue(self, request: dict[str, Any]) -> None:
        """Submits computes, by the peer's clock until `release` waits for them."""
        self.queued = request["count"], self.peer.mark()
        self.compute(request)

    def release(self, _: dict[str, Any]) -> dict[str, Any]:
        """Seconds of a compute, the mean over those that were queued."""
        count, begin = self.queued
        self.peer.fence()
        end = self.peer.mark()
        self.peer.fence()
        return {"seconds": finite(self.peer.between(begin, end) / count)}

    def latency(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"seconds": self.measured(request, self.peer.latency)}

    def measured(self, request: dict[str, Any], measure: Callable[[], float]) -> float:
        """Its result, without garbage collection in between; afterwards waits until spinning threads
        sleep, before anything else is timed."""
        gc.disable()
        try:
            if request["warm"]:
                self.peer.compute()
                self.peer.fence()
            return finite(measure())
        finally:
            gc.enable()
            sleep(REST_S)


def answer(worker: Worker, request: dict[str, Any]) -> dict[str, Any]:
    """The result of a call, or its error."""
    try:
        done = getattr(worker, request["call"])(request)
        if isinstance(peer := getattr(worker, "peer", None), own.NumpyFunction):
            peer.clocks.check()
        return {"done": done}
    except (Unsupported, ImportError) as reason:
        traceback.print_exc()
        return {"unsupported": message(reason)}
    except Exception as error:  # noqa: BLE001 (it is the result of this case)
        traceback.print_exc()
        if exhausted(error):
            return {"unsupported": f"out of memory: {message(error)}"}
        return {"failed": f"{type(error).__name__}: {message(error)}"}


def requests(channel: socket.socket) -> Iterator[dict[str, Any]]:
    """The calls, each with the open files that were sent with it."""
    text, files = b"", []
    while True:
        more, sent, _, _ = socket.recv_fds(channel, 65536, MAX_FILES)
        files += sent
        if not more:
            return
        *lines, text = (text + more).split(b"\n")
        for line in lines:
            yield {**json.loads(line), "files": files}
            files = []


def serve(channel: socket.socket) -> None:
    """Answers calls until the socket is closed."""
    worker = Worker()
    with channel:
        for request in requests(channel):
            reply = json.dumps(answer(worker, request))
            channel.sendall(reply.encode() + b"\n")


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
