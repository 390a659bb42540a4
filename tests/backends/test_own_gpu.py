# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of the user's own on a GPU, with stand-ins for CuPy and PyTorch that compute on the host."""

import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

from backends.python.own import own_peer
from backends.python.peer import Device

KERNELS = {
    "fresh": "def vector_add(a, b):\n    return a + b\n",
    "memo": "kept = {}\ndef vector_add(a, b):\n    return kept.setdefault(0, a + b)\n",
    "host": "import numpy\ndef vector_add(a, b):\n    return numpy.zeros(1000, 'f4')\n",
    "event": "import LIBRARY\ndef vector_add(a, b):\n    LIBRARY.cuda.Event.record = 0\n    return a + b\n",
}


class Stream:
    def synchronize(self):
        pass


class Library(SimpleNamespace):
    """A module."""

    rest_s = 0.0  #: of work on other streams

    def wait(self, _=None):
        time.sleep(self.rest_s)


class Event:
    def __init__(self, enable_timing=True):
        self.at = 0.0

    def record(self):
        self.at = time.perf_counter()

    def query(self):
        return False

    def elapsed_time(self, end):
        return (end.at - self.at) * 1e3

    done = property(query)


class Array(np.ndarray):
    """Of CuPy."""

    @property
    def device(self):
        return SimpleNamespace(id=0)


class Tensor:
    """Of PyTorch: what is called of it."""

    layout, device = "strided", ("cuda", 0)

    def __init__(self, values):
        self.values = values
        self.shape, self.dtype = values.shape, f"torch.{values.dtype}"

    data = property(lambda self: self)

    def __add__(self, other):
        return Tensor(self.values + other.values)

    def __getitem__(self, key):
        take = tuple(k.values for k in key) if isinstance(key, tuple) else key
        return Tensor(self.values[take])

    def view(self, size):
        return Tensor(self.values.reshape(size))

    def to(self, _):
        return self

    def copy_(self, other):
        self.values[...] = other.values

    def fill_(self, value):
        self.values.fill(value)

    def is_contiguous(self):
        return True

    def untyped_storage(self):
        return SimpleNamespace(data_ptr=lambda: self.values.ctypes.data)

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return self.values


def fake_cupy():
    module = Library(__name__="cupy", ndarray=Array, int64=int)
    module.asarray = lambda values: np.array(values).view(Array)
    module.asnumpy = np.array
    module.may_share_memory = np.may_share_memory
    module.RawKernel = lambda *_: lambda *_: None
    module.cuda = Library(__name__="cupy.cuda", Event=Event, Stream=Stream)
    module.cuda.Device = lambda _: SimpleNamespace(use=lambda: None)
    module.cuda.get_current_stream = Stream
    module.cuda.get_elapsed_time = lambda begin, end: begin.elapsed_time(end)
    module.cuda.runtime = Library(__name__="cupy.cuda.runtime")
    module.cuda.runtime.deviceSynchronize = module.wait
    return module


def fake_torch():
    module = Library(__name__="torch", Tensor=Tensor, from_numpy=Tensor)
    module.strided, module.device = "strided", lambda *words: words
    module.set_float32_matmul_precision = module.set_grad_enabled = lambda _: None
    module.cuda = Library(__name__="torch.cuda", Event=Event, Stream=Stream)
    module.cuda.set_device = module.cuda._sleep = lambda _: None
    module.cuda.current_stream = Stream
    module.cuda.synchronize = module.wait
    return module


@pytest.fixture(params=["cupy", "torch"])
def peer(request, tmp_path, monkeypatch):
    """peer(name of a kernel) -> the function with its library."""
    library = {"cupy": fake_cupy, "torch": fake_torch}[request.param]()
    monkeypatch.setitem(sys.modules, request.param, library)
    monkeypatch.setattr(Event, "record", Event.record)  # put back at the end

    def make(kernel):
        file = tmp_path / "mine.py"
        file.write_text(
            KERNELS[kernel].replace("LIBRARY", request.param), encoding="utf-8"
        )
        arguments = [{"source": n, "role": "input", "type": "T"} for n in ("a", "b")]
        call = {"file": str(file), "function": "vector_add", "arrays": request.param}
        call |= {"arguments": arguments, "results": ["sum"]}
        values = np.random.default_rng(0).random((2, 1000), np.float32)
        inputs = {"a": values[0], "b": values[1]}
        outputs = {"sum": np.zeros(1000, np.float32)}
        made = own_peer(call, inputs, {}, Device("gpu"), outputs)
        made.upload()
        made.reset()
        made.library = library
        return made

    return make


def test_results_of_altered_inputs_are_those_of_the_reference(peer):
    own = peer("fresh")
    own.compute()
    checked = own.inspector.digest()
    for draw in (3, 2**64 - 1):
        reference = own.inspector.inspect(0, draw)
        assert reference == own.inspector.inspect(4, draw) != checked
    assert own.inspector.inspect(4, 0) == own.inspector.inspect(0, 0) == checked
    right = own.inputs["a"] + own.inputs["b"]
    assert own.download()["sum"].tobytes() == right.tobytes()
    assert own.time(3) > 0
    own.clocks.check()


def test_a_kept_result_is_found(peer):
    own = peer("memo")
    own.compute()
    assert own.inspector.inspect(4, 5) != own.inspector.inspect(0, 5)


def test_a_result_on_the_host_is_refused(peer):
    own = peer("host")
    own.compute()
    with pytest.raises(TypeError, match=r"'sum' is numpy.ndarray on cpu, not a "):
        own.checked()


def test_work_on_another_stream_is_found(peer):
    own = peer("fresh")
    own.library.rest_s = 0.02
    for measured in (lambda: own.time(2), lambda: own.inspector.inspect(2, 0)):
        with pytest.raises(RuntimeError, match="work on another stream"):
            measured()


def test_an_event_that_is_replaced_is_found(peer):
    own = peer("event")
    own.compute()
    with pytest.raises(RuntimeError, match=r"it replaces .*Event\.record, by which"):
        own.clocks.check()
