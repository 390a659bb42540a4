# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Large arrays of the host that all threads fill."""

import threading

import numpy as np
import pytest

from backends.python import host_memory


@pytest.fixture(params=[1, 24, 1 << 20])
def block(request, monkeypatch):
    """Bytes that a thread assigns at a time: less than a row, some rows, all."""
    monkeypatch.setattr(host_memory, "BLOCK_BYTES", request.param)


@pytest.mark.parametrize(
    "shape", [(), (0,), (1,), (7,), (5, 3), (0, 3), (3, 0), (4, 2, 3)]
)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1"])
def test_assigns_arrays_and_numbers(block, shape, dtype):
    values = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
    to = np.full(shape, 99, dtype)
    host_memory.assign(to, values)
    assert to.tolist() == values.tolist()
    host_memory.assign(to, 3)
    assert (to == 3).all()


def test_assigns_strided_arrays(block):
    values = np.arange(60.0).reshape(6, 10)
    to = np.zeros((6, 10))
    host_memory.assign(to[:, ::2], values[:, 1::2])
    assert (to[:, ::2] == values[:, 1::2]).all() and (to[:, 1::2] == 0).all()


def test_large_arrays_are_assigned_by_several_threads(monkeypatch):
    monkeypatch.setattr(host_memory, "BLOCK_BYTES", 8)
    monkeypatch.setattr(host_memory.os, "sched_getaffinity", lambda _: range(3))
    both, seen = threading.Barrier(3), set()

    class Values(np.ndarray):
        def __getitem__(self, rows):
            if isinstance(rows, slice):
                seen.add(threading.get_ident())
                both.wait(30)  # passes only if three threads are here at once
            return super().__getitem__(rows)

    to = np.zeros(3)
    host_memory.assign(to, np.arange(3.0).view(Values))
    assert to.tolist() == [0, 1, 2] and len(seen) == 3


def test_an_error_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(host_memory, "BLOCK_BYTES", 8)
    with pytest.raises(ValueError, match="could not be broadcast|broadcast"):
        host_memory.assign(np.zeros((4, 2)), np.zeros((4, 3)))


def test_touched_pages_are_zero_and_on_pages_of_their_own():
    pages = host_memory.touched_pages(10_001)
    assert pages.nbytes == 10_001 and not pages.any() and pages.flags.writeable
    assert pages.ctypes.data % 4096 == 0
