# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of ceilings: whole numbers, compared exactly."""

import numpy as np
import pytest
from peer_support import NUMPY_TYPES, Variant, run, variants

RIGHT = {
    "copy": ("values", lambda a, b: a),
    "add": ("values", lambda a, b: a + b),
    "read": ("sums", lambda a, b: a.sum(1, keepdims=True)),
}
VARIANTS = [v for problem in RIGHT for v in variants("ceilings", problem)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_ceilings(variant: Variant):
    random, dtype = np.random.default_rng(1), NUMPY_TYPES[variant[2]]
    a, b = (random.integers(0, 256, (3, 4096)).astype(dtype) for _ in range(2))
    name, right = RIGHT[variant[1]]
    found = run(variant, "ceilings", {"a": a, "b": b})
    assert list(found) == [name]
    assert found[name].dtype == dtype
    np.testing.assert_array_equal(found[name], right(a, b))
