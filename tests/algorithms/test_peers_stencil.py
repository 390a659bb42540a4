# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of stencil: each cell within the rounding bound of its steps."""

import numpy as np
import pytest
from peer_support import NUMPY_TYPES, Variant, run, variants


def stepped(values, steps):
    values = values.astype(np.float64)
    for _ in range(steps):
        shell = np.pad(values, 1)
        sides = sum(
            np.roll(shell, shift, axis)[1:-1, 1:-1, 1:-1]
            for axis in range(3)
            for shift in (-1, 1)
        )
        values = 0.25 * values + 0.125 * sides
    return values


@pytest.mark.parametrize("n,steps", [(1, 2), (2, 1), (3, 3), (8, 5), (19, 4)])
@pytest.mark.parametrize("variant", variants("stencil"))
def test_stencil(variant: Variant, n: int, steps: int):
    dtype = NUMPY_TYPES[variant[2]]
    initial = np.random.default_rng(n).random((n, n, n)).astype(dtype)
    values = run(variant, "stencil", {"initial": initial}, steps=steps)
    expected = stepped(initial, steps)
    bound = (4 * steps + 4) * np.finfo(dtype).eps * expected
    assert values["values"].dtype == dtype
    assert (abs(values["values"] - expected) <= bound).all()
