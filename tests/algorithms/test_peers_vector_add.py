# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of vector_add: floats with the one rounding of NumPy's sum; integers exactly."""

import numpy as np
import pytest
from peer_support import NUMPY_TYPES, Variant, run, variants

from backends.python.peer import Unsupported

VARIANTS = variants("vector_add")


def terms(dtype, n):
    random = np.random.default_rng(n)
    if dtype == np.int32:
        halves = random.integers(-(2**30), 2**30, (2, n), dtype=np.int32)
        return {"a": halves[0], "b": halves[1]}
    a, b = random.random((2, n)).astype(dtype) - dtype(0.5)
    return {"a": a, "b": b}


@pytest.mark.parametrize("n", [0, 1, 5, 70_001])
@pytest.mark.parametrize("variant", VARIANTS)
def test_sum(variant: Variant, n: int):
    inputs = terms(NUMPY_TYPES[variant[2]], n)
    found = run(variant, "vector_add", inputs, memory="device")["sum"]
    assert found.dtype == inputs["a"].dtype
    np.testing.assert_array_equal(found, inputs["a"] + inputs["b"])


@pytest.mark.parametrize("variant", VARIANTS)
def test_memory_of_another_kind_is_refused(variant: Variant):
    inputs = terms(NUMPY_TYPES[variant[2]], 5)
    if variant[0] == "pytorch":  # calls the test's __init__
        pytest.skip("see torch_on_cpu")
    with pytest.raises(Unsupported, match="takes memory = device only"):
        run(variant, "vector_add", inputs, memory="unified")


@pytest.mark.parametrize("n", [0, 1, 70_001])
@pytest.mark.parametrize("variant", variants("vector_add", "fill"))
def test_index_fill(variant: Variant, n: int):
    found = run(variant, "vector_add", {}, memory="device", n=n)["index"]
    dtype = NUMPY_TYPES[variant[2]]
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.arange(n).astype(dtype))
