# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stages inside a peer's compute: in a traced pass only, and the same work as without."""

import numpy as np
import pytest

from backends.python import stages
from backends.python.driver import load, prepare, variants
from backends.python.peer import Device, HostPeer


class Staged(HostPeer):
    """On a clock that only its own work moves on."""

    method = "staged"
    now = 0.0
    held = 0

    def spend(self, seconds, stage):
        self.now += seconds
        if self.trace:
            self.trace.end(stage)

    def compute(self):
        for _ in range(3):
            self.spend(1.0, "forward")
            self.spend(2.0, "backward")

    def mark(self):
        return self.now

    def hold_back(self):
        self.held += 1

    def download(self):
        return {}


def test_a_stage_is_the_sum_of_its_parts():
    peer = Staged({}, {}, Device())
    assert stages.traced(peer) == {"forward": 3.0, "backward": 6.0}
    assert peer.now == 18, "once to be warm, once traced"
    assert peer.trace is None and peer.held == 1


def test_what_marks_no_stage_has_none():
    whole = type("Whole", (Staged,), {"compute": lambda self: None})
    assert stages.traced(whole({}, {}, Device())) == {}


def test_an_error_ends_the_trace():
    def fail(self):
        raise ValueError

    peer = type("Failing", (Staged,), {"compute": fail})({}, {}, Device())
    with pytest.raises(ValueError):
        stages.traced(peer)
    assert peer.trace is None


POINTS = np.linspace(0, 1, 30, dtype=np.float32).reshape(10, 3)
ROWS = np.linspace(-1, 1, 40).reshape(2, 20)
TRAINED = ("forward", "loss", "backward", "update")
LINEAR = {
    "start": "zero",
    "steps": 3,
    "learning_rate": 0.1,
}
LOGISTIC = {"steps": 3, "learning_rate": 0.1, "l2": 0.1, "tolerance": 0.0}
PIXELS = {
    "train": np.arange(40, dtype=np.uint8).reshape(8, 5),
    "train_labels": np.arange(8, dtype=np.int32) % 2,
    "test_labels": np.zeros(1, np.int32),
}


@pytest.mark.parametrize(
    ("algorithm", "method", "inputs", "parameters", "names"),
    [
        ("distance_matrix", "product", {"points": POINTS}, {"metric": "squared"},
         ("norms", "matmul", "rest")),
        ("distance_matrix", "einsum", {"points": POINTS}, {"metric": "squared"},
         ("einsum", "matmul", "rest")),
        ("linear_regression", "library", {"x": ROWS, "y": ROWS[0]}, LINEAR, TRAINED),
        ("logistic_regression", "library", {"columns": ROWS, "labels": ROWS[0] > 0},
         LOGISTIC, TRAINED),
        ("softmax_regression", "library", PIXELS,
         {"batch": 0, "steps": 3, "learning_rate": 0.1, "l2": 0.1}, TRAINED),
    ],
)  # fmt: skip
def test_numpy_has_the_stages_of_the_studies(
    algorithm, method, inputs, parameters, names
):
    made_from = variants(load(algorithm, "numpy"))[method]
    peer = prepare(made_from, inputs, parameters | {"dtype": "f32"}, Device())
    peer.reset()
    peer.compute()
    without = {name: np.array(value) for name, value in peer.download().items()}
    assert tuple(stages.traced(peer)) == names
    for name, values in peer.download().items():
        np.testing.assert_array_equal(values, without[name])
