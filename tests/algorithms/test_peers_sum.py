# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of sum: integers exactly, floats within the rounding bound of a sum in double in any order."""

import math

import numpy as np
import pytest
from peer_support import NUMPY_TYPES, Variant, run, variants


@pytest.mark.parametrize("n", [0, 1, 5, 65536, 200_003])
@pytest.mark.parametrize("variant", variants("sum"))
def test_sum(variant: Variant, n: int):
    dtype, random = NUMPY_TYPES[variant[2]], np.random.default_rng(n)
    if dtype == np.int32:
        x = random.integers(-(2**31), 2**31, n, dtype=np.int32)
    else:
        x = (random.random(n) - 0.5).astype(dtype)
    total = run(variant, "sum", {"x": x})["sum"]
    assert total.shape == (1,)
    if dtype == np.int32:
        assert total.dtype == np.int64
        assert int(total[0]) == sum(x.tolist())
    else:
        assert total.dtype == np.float64
        bound = n * 2.0**-53 * float(np.abs(x.astype(float)).sum())
        assert abs(total[0] - math.fsum(x.tolist())) <= bound


INTEGER = [v for v in variants("sum") if v.values[0][2] == "i32"]


@pytest.mark.parametrize("variant", INTEGER)
def test_sum_beyond_the_range_of_the_elements(variant: Variant):
    x = np.full(70_000, 2**31 - 1, np.int32)
    assert run(variant, "sum", {"x": x})["sum"].tolist() == [70_000 * (2**31 - 1)]
