# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of the user's own in a worker, called as bench/peers/peer.cpp calls it: what does not compute is found."""

import json
import mmap
import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from backends.python.digests import digest, digest_of_all
from backends.python.inspection import chosen, differing

ROOT = Path(__file__).resolve().parents[2]
PLANTED = ROOT / "tests/bench/planted"
SIZE = 30011
LAYOUT = [{"name": n, "dtype": "f32", "shape": [SIZE]} for n in ("a", "b", "sum")]


class Failed(Exception):
    """What a worker answers in place of a result."""


class OwnWorker:
    """A process with a function that adds two arrays; its calls are methods."""

    def __init__(self, file):
        mine, theirs = socket.socketpair()
        command = [sys.executable, "-m", "backends.python.worker", str(theirs.fileno())]
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], cwd=ROOT, stderr=subprocess.DEVNULL
        )
        theirs.close()
        self.channel, self.lines = mine, mine.makefile("rb")
        self.inputs, inputs = self.shared(LAYOUT[:2])
        self.outputs, outputs = self.shared(LAYOUT[2:])
        values = np.random.default_rng(1).random((2, SIZE), np.float32)
        self.inputs["a"][:], self.inputs["b"][:] = values
        arguments = [{"source": n, "role": "input", "type": "T"} for n in ("a", "b")]
        own = {"function": "vector_add", "file": str(file), "arrays": "numpy"}
        request = {
            "parameters": {"dtype": "f32"},
            "device": {"kind": "host"},
            "own": {**own, "arguments": arguments, "results": ["sum"]},
            "inputs": inputs[0],
            "outputs": outputs[0],
        }
        self("prepare", [inputs[1], outputs[1]], **request)
        for call in ("upload", "reset", "compute", "fence", "download"):
            self(call)

    @staticmethod
    def shared(layout):
        """Arrays by name; what a request says of them, and their file."""
        file = os.memfd_create("arrays")
        os.ftruncate(file, len(layout) * SIZE * 4)
        memory = mmap.mmap(file, 0)
        arrays, said = {}, []
        for i, one in enumerate(layout):
            arrays[one["name"]] = np.ndarray(SIZE, np.float32, memory, i * SIZE * 4)
            said.append({**one, "offset": i * SIZE * 4})
        return arrays, ({"bytes": len(layout) * SIZE * 4, "arrays": said}, file)

    def __call__(self, call, files=(), **request):
        text = json.dumps({"call": call, **request}).encode() + b"\n"
        socket.send_fds(self.channel, [text], files)
        answer = json.loads(self.lines.readline())
        if "done" not in answer:
            raise Failed(*answer.values())
        return answer["done"]

    def inspect(self, before, draw):
        return self("inspect", before=before, draw=str(draw))["digest"]

    def time(self, call="time"):
        return self(call, count=20, warm=True)["seconds"]

    def end(self):
        self.channel.close()
        self.lines.close()
        self.process.wait(10)


@pytest.fixture
def worker():
    """worker(file) -> one that has been checked."""
    started = []

    def start(file):
        made = OwnWorker.__new__(OwnWorker)
        started.append(made)
        made.__init__(file)
        return made

    yield start
    for one in started:
        one.end()


def inspected(worker):
    """Whether all results are those of the references, in turn with timed batches."""
    worker.time()
    checked = worker("digest")["digest"]
    draws = random.Random(2)
    same = worker.inspect(0, 0) == checked
    for _ in range(8):
        worker.time()
        same &= worker("digest")["digest"] == checked
        for draw in (0, draws.getrandbits(64) | 1):
            reference = worker.inspect(0, draw)
            assert draw == 0 or reference != checked, "the reference is stale"
            same &= worker.inspect(draws.randint(1, 6), draw) == reference
    return same


STALE = (
    "memo",
    "every_second",
    "first_calls",
    "former",
    "spots",
    "poisoned",
)


@pytest.mark.parametrize("name", STALE)
def test_a_stale_result_has_another_digest(name, worker):
    assert not inspected(worker(PLANTED / f"cheats/{name}.py"))


REPLACED = ", by which it is timed or checked"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("half_clock", "RuntimeError: it replaces time.perf_counter" + REPLACED),
        ("late_clock", "RuntimeError: it replaces time.perf_counter_ns" + REPLACED),
        ("latency", "it replaces backends.python.peer.Peer.latency" + REPLACED),
        ("lazy", "TypeError: 'sum' is own_kernel.Lazy, not numpy.ndarray"),
        ("subclass", "TypeError: 'sum' is own_kernel.Sum"),
        ("deferred", "RuntimeError: its results were still changing after the call"),
    ],
)
def test_what_defers_or_replaces_fails_with_the_reason(name, message, worker):
    with pytest.raises(Failed) as failed:
        inspected(worker(PLANTED / f"cheats/{name}.py"))
    assert message in str(failed.value)


@pytest.mark.parametrize("file", sorted(PLANTED.glob("honest/*.py")), ids=str)
def test_honest_functions_pass(file, worker):
    if file.stem.startswith("numba"):
        pytest.importorskip("numba")
    own = worker(file)
    assert inspected(own)
    own.inspect(3, 77)
    own("compute")
    own("fence")
    own("download")
    right = own.inputs["a"] + own.inputs["b"]
    assert own.outputs["sum"].tobytes() == right.tobytes(), "inputs are as uploaded"


def test_the_result_of_an_inspection_is_left_for_download(worker):
    own = worker(PLANTED / "honest/fresh.py")
    unaltered = own.outputs["sum"].copy()
    assert own.inspect(2, 8) == own.inspect(0, 8)
    own("download")
    changed = np.flatnonzero(own.outputs["sum"] != unaltered)
    assert 1 <= len(changed) <= 128


def test_a_queued_batch_is_timed_between_two_calls(worker):
    own = worker(PLANTED / "honest/fresh.py")
    own("queue", count=10)
    assert 0 < own("release")["seconds"] < 1


def test_inputs_of_one_value_cannot_be_altered(worker):
    own = worker(PLANTED / "honest/fresh.py")
    for array in own.inputs.values():
        array.fill(1)
    own("upload")
    assert own.inspect(0, 3) is None
    assert own.inspect(2, 0) == own.inspect(0, 0)


def reference_digest(content):
    """`digest` of backends/host_memory.hpp, word by word."""
    total, mask = 0, (1 << 64) - 1
    content += bytes(-len(content) % 8)
    for i in range(len(content) // 8):
        z = int.from_bytes(content[8 * i : 8 * i + 8], "little")
        z = (z + (i + 1) * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        total += z ^ (z >> 31)
    return total & mask


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, (1 << 19) - 3, (1 << 19) + 9])
def test_digest_is_that_of_the_other_side(size):
    content = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    assert digest(content) == reference_digest(content.tobytes())


def test_digest_tells_order_and_layout():
    one, other = np.arange(6.0).reshape(2, 3), np.arange(3)
    assert digest(one) == digest(np.asfortranarray(one)) != digest(one.T)
    assert digest_of_all([one, other]) != digest_of_all([other, one])
    assert digest_of_all([one]) != digest_of_all([one, other])


def test_places_are_those_of_the_draw_and_differ():
    values = np.zeros(1000, np.float32)
    assert chosen(values, 4, 0) is None
    assert chosen(values[:1], 4, 0) is None
    values[::10] = 1 + np.arange(100)
    to, source, count = chosen(values, 4, 0)
    assert (to, source, count) == chosen(values, 4, 0) != chosen(values, 4, 1)
    drawn = [chosen(values, draw, 0) for draw in range(4, 4000, 4)]
    counts = {places[2] for places in drawn if places}
    assert counts == {1 << power for power in range(7)}
    assert [chosen(values, 4 + level, 0)[2] for level in (1, 2, 3)] == [250] * 3
    assert max(to, source) + count <= 1000


def test_differing_positions_are_found_in_all_blocks():
    one = np.zeros((1 << 22) + 5, np.uint8)
    other = one.copy()
    other[[3, -1]] = 1
    found = differing(one, other, np.random.default_rng(0))
    assert sorted(found) == [3, len(one) - 1]
