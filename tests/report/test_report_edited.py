# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records that somebody has edited contradict themselves, and are left out with the reason."""

import statistics

import pytest

from bench.report.merge import load

SAMPLES = [1e-3, 1.1e-3, 1.3e-3, 1.2e-3, 1e-3, 1e-3]


@pytest.fixture
def whole(entry):
    """An entry with its median, as the program writes it."""
    return entry("cuda", SAMPLES, real_time=statistics.median(SAMPLES) * 1e9)


def test_what_agrees_is_read(save, whole):
    cases, problems = load([save([whole])])
    assert len(cases) == 1 and not problems


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"samples": [5e-4] * 6},
            "but the median of 'samples' is 500000 ns",
        ),
        ({"sizes": {"n": 5}}, "'n' is 5, but its name has '268435456'"),
        ({"dtype": "f64"}, "'dtype' is 'f64', but its name has 'f32'"),
        ({"model": "hip"}, "'model' is 'hip', but its name has 'cuda'"),
        ({"devices": 2}, "'devices' is 2, but its name has '1'"),
        (
            {"device_kind": "host"},
            "'device_kind' is 'host', but NVIDIA H200 is another",
        ),
    ],
)
def test_what_was_edited_is_left_out(save, whole, change, message):
    cases, (problem,) = load([save([{**whole, **change}])])
    assert not cases and f"{message}: it was edited" in problem
