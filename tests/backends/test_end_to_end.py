# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers timed from host to host: what a pass takes part in, and what is copied where."""

import json
import os

import numpy as np
import pytest
from peer_support import InHostMemory

from backends.python import end_to_end, worker
from backends.python.driver import load, variants
from backends.python.peer import Device, HostPeer, Unsupported


class Gpu(InHostMemory):
    """Doubles an array."""

    method = "double"
    has_pinned = True
    compiles = False

    def upload(self):
        self.x = self.to_device(self.inputs["x"])
        self.y = np.empty_like(self.x)

    def compute(self):
        np.multiply(self.x, 2, out=self.y)

    def download(self):
        return {"y": self.to_host(self.y)}

    def pinned(self, shape, dtype):
        return super().pinned(shape, dtype) if self.has_pinned else None

    def builds(self):
        return self.compiles


class Host(HostPeer):
    method = "double_host"

    def upload(self):
        self.x = self.inputs["x"].copy()

    def reset(self):
        self.ready = True  # as a model that `compute` fits

    def compute(self):
        assert self.ready
        self.y = self.x * 2

    def download(self):
        return {"y": self.y}


class Holder:
    """As the worker: a computed peer."""

    def __init__(self, made_from):
        self.made_from = made_from
        self.made = 0
        self.peer = self.make({"x": np.arange(5.0)})
        self.peer.upload()
        self.peer.reset()
        self.peer.compute()

    def make(self, inputs):
        self.made += 1
        return self.made_from(inputs, {}, Device(self.made_from.kind))

    def passes(self, memory):
        return end_to_end.Passes(self, memory, self.make)


@pytest.mark.parametrize("memory", ["pageable", "pinned"])
def test_a_pass_is_the_sum_of_its_parts(memory):
    holder = Holder(Gpu)
    passes = holder.passes(memory)
    for fresh in (True, False):
        times = passes.timed(fresh)
        total = times.pop("seconds")
        assert set(times) == {"upload", "compute", "download"}
        assert total == pytest.approx(sum(times.values())) and min(times.values()) >= 0


def test_a_warm_pass_keeps_the_arrays_and_a_cold_one_makes_new_ones():
    holder = Holder(Gpu)
    passes = holder.passes("pinned")
    array, results = holder.peer.x, passes.host.results[0]
    passes.timed(False)
    assert holder.peer.x is array and holder.made == 1
    passes.host.sources[0][:] = 7  # what a warm pass copies to the device
    passes.timed(False)
    assert array.tolist() == [7] * 5 and results.tolist() == [14] * 5
    passes.timed(True)
    assert holder.peer.x is not array and holder.made == 2
    assert holder.peer.inputs["x"].tolist() == [0, 1, 2, 3, 4]
    assert passes.host.results[0] is results, "memory of the host is kept"
    assert results.tolist() == [0, 2, 4, 6, 8]
    assert holder.peer.download()["y"] is not results, "only passes write there"


def test_what_compiles_anew_has_no_cold_pass():
    holder = Holder(type("Compiled", (Gpu,), {"compiles": True}))
    passes = holder.passes("pinned")
    with pytest.raises(Unsupported, match="compiles or captures"):
        passes.timed(True)
    assert holder.made == 1 and passes.timed(False)["seconds"] > 0


def test_a_library_without_pinned_memory_says_so():
    holder = Holder(type("Plain", (Gpu,), {"has_pinned": False}))
    with pytest.raises(Unsupported, match="no pinned memory"):
        holder.passes("pinned")
    assert set(end_to_end.transfers(holder.peer)) == {"upload", "download"}


def test_a_host_copies_nothing():
    holder = Holder(Host)
    passes = holder.passes("pageable")
    for fresh in (True, False):
        times = passes.timed(fresh)
        assert times["seconds"] >= times["compute"] and "upload" not in times
    assert end_to_end.transfers(holder.peer) == {}


@pytest.mark.parametrize(
    "model, method", [("numpy", "library"), ("jax", "cpu"), ("numba", "parallel")]
)
def test_real_peers_take_passes(model, method):
    pytest.importorskip(model)
    made_from = variants(load("vector_add", model)).get(method)
    if made_from is None:
        pytest.skip(f"no {method}")
    values = np.arange(5, dtype=np.float32)

    class Adding(Holder):
        def make(self, inputs):
            arrays = {"a": values, "b": values} if "x" in inputs else inputs
            parameters = {"n": 5, "dtype": "f32", "memory": "device"}
            return made_from(arrays, parameters, Device("host", 0, 1))

    holder = Adding(made_from)
    passes = holder.passes("pageable")
    assert passes.timed(True)["seconds"] > 0
    assert passes.timed(False)["seconds"] > 0
    assert np.asarray(holder.peer.download()["sum"]).tolist() == [0, 2, 4, 6, 8]


def shared(**arrays):
    """A file as the harness shares it: arrays of floats one after another, in their own lines of 64 bytes."""
    file, layout = os.memfd_create("shared"), []
    for place, (name, values) in enumerate(arrays.items()):
        os.pwrite(file, np.asarray(values, np.float32).tobytes(), 64 * place)
        form = {"name": name, "dtype": "f32", "shape": [len(values)]}
        layout.append({**form, "offset": 64 * place})
    os.ftruncate(file, 64 * len(arrays))
    return {"file": file, "bytes": 64 * len(arrays), "arrays": layout}


def test_a_worker_answers_the_calls_of_the_harness():
    sums = shared(sum=[0, 0])
    request = {
        "algorithm": "vector_add",
        "model": "numpy",
        "method": "library",
        "parameters": {"n": 2, "dtype": "f32", "memory": "device"},
        "device": {"kind": "host", "index": 0, "threads": 1, "memory_bytes": 0},
        "inputs": shared(a=[1, 2], b=[3, 4]),
        "outputs": sums,
    }
    request["files"] = [os.dup(request[of]["file"]) for of in ("inputs", "outputs")]
    one = worker.Worker()

    def call(what, **more):
        answer = worker.answer(one, {"call": what, **more})
        return json.loads(json.dumps(answer))["done"]

    assert call("prepare", **request)["reset_each"] is False
    for step in ("upload", "reset", "compute", "fence"):
        call(step)
    assert call("stages") == {"parts": {}} and call("transfers") == {"parts": {}}
    for cold in (True, False):
        times = call("end_to_end", memory="pageable", cold=cold)
        assert times["seconds"] >= sum(times["parts"].values()) > 0
    call("download")
    assert np.frombuffer(os.pread(sums["file"], 8, 0), np.float32).tolist() == [4, 6]
