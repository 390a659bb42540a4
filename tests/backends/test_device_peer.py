# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the results of a peer go, and its page-locked memory."""

import mmap

import numpy as np
import pytest
from peer_support import InHostMemory

from backends.python import end_to_end, worker
from backends.python.gpu import GpuPeer
from backends.python.peer import Device


class Results(InHostMemory):
    """Results that a test gives; counts those that were fetched to new arrays."""

    method = "results"
    fetched = 0

    def __init__(self, results):
        super().__init__({}, {}, Device("gpu"))
        self.results = results

    def compute(self):
        pass

    def fetch(self, result):
        self.fetched += 1
        return super().fetch(result)

    def download(self):
        return {name: self.to_host(value) for name, value in self.results.items()}


def downloaded(results, outputs):
    """The worker after a download into these outputs."""
    one = worker.Worker()
    one.peer, one.outputs = Results(results), outputs
    one.download({})
    assert one.peer.kept is None, "later downloads have arrays of their own"
    return one.peer


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def test_results_are_copied_into_the_outputs_themselves():
    outputs = {"theta": zeros(3), "loss": zeros(5)}
    values = {"loss": np.arange(5, dtype="f4"), "theta": np.full(3, 7, "f4")}
    peer = downloaded(values, outputs)
    assert outputs["theta"].tolist() == [7] * 3
    assert outputs["loss"].tolist() == [0, 1, 2, 3, 4]
    # InHostMemory copies by `fetch` also into a given array.
    taken = []
    peer.fetch_into = lambda array, result: taken.append(array)
    one = worker.Worker()
    one.peer, one.outputs = peer, outputs
    one.download({})
    assert [id(array) for array in taken] == [id(outputs["loss"]), id(outputs["theta"])]


def test_outputs_that_look_alike_are_not_confused():
    outputs = {"first": zeros(4), "second": zeros(4)}
    values = {"second": np.full(4, 2, "f4"), "first": np.full(4, 1, "f4")}
    assert downloaded(values, outputs).fetched == 2
    assert (
        outputs["first"].tolist() == [1] * 4 and outputs["second"].tolist() == [2] * 4
    )


def test_what_is_changed_after_its_download_arrives_changed():
    class Turned(Results):
        def download(self):
            return {"matrix": self.to_host(self.results["matrix"]).T}

    one = worker.Worker()
    one.peer = Turned({"matrix": np.arange(9, dtype="f4").reshape(3, 3)})
    one.outputs = {"matrix": zeros(3, 3)}
    one.download({})
    assert one.outputs["matrix"].tolist() == [[0, 3, 6], [1, 4, 7], [2, 5, 8]]


@pytest.mark.parametrize("value", [zeros(3, dtype=np.float64), zeros(4), zeros(1, 3)])
def test_other_types_and_shapes_are_refused(value):
    with pytest.raises(ValueError, match=r"'theta' is .*, not float32\[3\]"):
        downloaded({"theta": value}, {"theta": zeros(3)})


class Locking(GpuPeer):
    """Notes what is locked."""

    method = "locking"
    compute = fence = download = hold = mark = reached = between = None

    def __init__(self):
        super().__init__({}, {}, Device("gpu"))
        self.locked = {}

    def page_lock(self, address, size):
        self.locked[address] = size
        return self.locked.pop


def test_pinned_memory_is_locked_as_long_as_it_is_used():
    peer = Locking()
    first, second = peer.pinned((5, 7), "float32"), peer.pinned((3,), "int64")
    assert first.shape == (5, 7) and first.dtype == np.float32 and first.flags.writeable
    assert sorted(peer.locked.values()) == [24, 140]
    assert all(address % mmap.PAGESIZE == 0 for address in peer.locked)
    part = first[1:]
    del first
    assert len(peer.locked) == 2, "a part of it is still used"
    del part
    assert list(peer.locked.values()) == [24]
    del second
    assert not peer.locked


def test_empty_memory_is_not_locked():
    peer = Locking()
    assert peer.pinned((0, 3), "float32").shape == (0, 3)
    assert not peer.locked


def shared(**arrays):
    """The pages of outputs, and the outputs in them."""
    pages = np.zeros(sum(array.nbytes for array in arrays.values()), np.uint8)
    views, at = {}, 0
    for name, array in arrays.items():
        part = pages[at : at + array.nbytes].view(array.dtype).reshape(array.shape)
        views[name], at = part, at + array.nbytes
    return pages, views


class LockingResults(Results):
    """Results whose library locks pages, or fails to."""

    fails = False

    def __init__(self, results):
        super().__init__(results)
        self.locked = []

    def lock_pages(self, pages):
        self.locked.append(pages.nbytes)
        return not self.fails


@pytest.mark.parametrize("fails", [False, True])
def test_large_outputs_are_locked_once(monkeypatch, fails):
    one = worker.Worker()
    one.peer = LockingResults({"theta": np.full(3, 7, "f4")})
    one.peer.fails = fails
    one.pages, one.outputs = shared(theta=zeros(3))
    assert not one.lock_outputs()
    one.download({})
    assert one.peer.locked == [], "so few bytes are copied sooner than locked"
    monkeypatch.setattr(worker, "LARGE", 12)
    assert one.lock_outputs() is not fails
    one.download({})
    one.download({})
    assert one.peer.locked == [12] and one.outputs["theta"].tolist() == [7] * 3


def test_transfers_go_to_locked_outputs_if_all_results_do():
    class Timed(Results):
        kind = "gpu"
        made = 0

        def pinned(self, shape, dtype):
            self.made += 1
            return np.empty(shape, dtype)

    values = {"theta": np.arange(3, dtype="f4"), "loss": np.arange(5, dtype="f4")}
    outputs = {"theta": zeros(3), "loss": zeros(5)}
    peer = Timed(values)
    assert set(end_to_end.transfers(peer, list(outputs.values()))) == {
        "upload",
        "download",
    }
    assert peer.made == 0 and outputs["loss"].tolist() == [0, 1, 2, 3, 4]
    for others in ([zeros(3), zeros(3)], [zeros(3)], [zeros(3), zeros(7)], []):
        peer = Timed(values)
        end_to_end.transfers(peer, others)
        assert peer.made > 0, "copied to arrays of its own, which are pinned too"


def test_pages_that_cannot_be_locked_are_left():
    class Refusing(Locking):
        def page_lock(self, address, size):
            raise RuntimeError("operation not supported")

    pages = np.zeros(4096, np.uint8)
    assert not Refusing().lock_pages(pages)
    peer = Locking()
    assert peer.lock_pages(pages) and peer.locked == {pages.ctypes.data: 4096}
    del pages
    assert not peer.locked
