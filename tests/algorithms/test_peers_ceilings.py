# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of ceilings: whole numbers, compared exactly."""

import numpy as np
import pytest
from peer_support import NUMPY_TYPES, Variant, run, variants

RIGHT = {
    "copy": ("values", lambda a, b: a),
    "add": ("values", lambda a, b: a + b),
    "triad": ("values", lambda a, b: a + 3 * b),
    "dot": ("sums", lambda a, b: (a * b).sum(1, keepdims=True)),
    "read": ("sums", lambda a, b: a.sum(1, keepdims=True)),
    "write": ("values", lambda a, b: np.full_like(a, 1) + [[0], [1], [2]]),
}
INPUTS = {
    "copy": "a",
    "add": "ab",
    "triad": "ab",
    "dot": "ab",
    "read": "a",
    "write": "",
}


@pytest.mark.parametrize("problem", RIGHT)
def test_every_problem_has_a_peer(problem: str):
    assert variants("ceilings", problem)


@pytest.mark.parametrize(
    ("problem", "variant"),
    [
        pytest.param(problem, *v.values, id=v.id)
        for problem in RIGHT
        for v in variants("ceilings", problem)
    ],
)
def test_ceilings(problem: str, variant: Variant):
    random, dtype = np.random.default_rng(1), NUMPY_TYPES[variant[2]]
    shape = (3, 16384 // np.dtype(dtype).itemsize)
    a, b = (random.integers(0, 64, shape).astype(dtype) for _ in range(2))
    name, right = RIGHT[problem]
    inputs = {key: {"a": a, "b": b}[key] for key in INPUTS[problem]}
    found = run(variant, "ceilings", inputs, n=a.size - 1)
    assert list(found) == [name]
    assert found[name].dtype == dtype
    np.testing.assert_array_equal(found[name], right(a, b))
