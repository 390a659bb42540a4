# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A peer on several devices: each has its rows, its thread and its device; results are in the order of the rows."""

import threading

import numpy as np
import pytest

from backends.python.device_peer import DevicePeer
from backends.python.peer import Device, Unsupported
from backends.python.several import Split


class Scaled(DevicePeer):
    """Rows times the factor; the memory of its device is the host's."""

    method = "scaled"
    kind = "gpu"
    warm_up = False
    forms = (("scaled", "exact"),)
    split = ("rows", "labels")

    def upload(self):
        self.made_by = threading.get_ident()
        self.rows = self.to_device(self.inputs["rows"])
        self.factor = self.to_device(self.inputs["factor"])

    def compute(self):
        assert threading.get_ident() == self.made_by
        self.results = self.rows * self.factor

    def download(self):
        index = np.full(len(self.rows), self.device.index)
        return {"scaled": self.to_host(self.results), "device": self.to_host(index)}

    def device_copy(self, array):
        return array.copy()

    def copy_in(self, to, array):
        to[...] = array

    def fetch(self, result):
        return result.copy()

    def pinned(self, array):
        return array.copy()


def inputs(rows):
    table = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
    return {"rows": table, "labels": np.arange(rows), "factor": np.array([3.0, 5.0])}


def split(rows, indices=(4, 2, 7), made_from=Scaled):
    return Split(
        made_from, inputs(rows), {}, Device("gpu", indices[0], indices=indices)
    )


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 8])
def test_results_are_those_of_one_device(rows):
    peer = split(rows)
    assert (peer.warm_up, peer.forms) == (False, (("scaled", "exact"),))
    for call in (peer.upload, peer.reset, peer.compute, peer.fence):
        call()
    found, given = peer.download(), inputs(rows)
    np.testing.assert_array_equal(found["scaled"], given["rows"] * given["factor"])
    ends = [rows * i // 3 for i in range(4)]
    owners = np.repeat([4, 2, 7], np.diff(ends))
    np.testing.assert_array_equal(found["device"], owners)


def test_end_to_end_passes_take_the_slowest_device():
    peer = split(8)
    for call in (peer.upload, peer.reset, peer.compute, peer.fence):
        call()
    for fresh in (True, False):
        times = peer.timed("pinned", fresh)
        assert set(times) == {"seconds", "upload", "compute", "download"}
        assert times["seconds"] > 0
    assert peer.time(2) > 0


def test_devices_work_at_the_same_time():
    meeting = threading.Barrier(3, timeout=60)

    class Meets(Scaled):
        def compute(self):
            meeting.wait()
            super().compute()

    peer = split(3, made_from=Meets)
    for call in (peer.upload, peer.reset, peer.compute):
        call()
    assert len(peer.download()["device"]) == 3


def test_an_error_on_one_device_is_that_of_the_peer():
    class Declines(Scaled):
        def upload(self):
            if self.device.index == 7:
                raise Unsupported("device 7 is too small")

    with pytest.raises(Unsupported, match="device 7"):
        split(3, made_from=Declines).upload()
