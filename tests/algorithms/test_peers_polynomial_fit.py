# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of polynomial_fit against the descent in double, straight from the formula."""

import numpy as np
import pytest
from peer_support import NUMPY_TYPES, Variant, run, variants

START = np.array([0.3, -1.2, 0.5, 0.1])


def descend(x, y, steps, rate):
    theta, losses = START.copy(), []
    for _ in range(steps):
        error = sum(theta[p] * x**p for p in range(4)) - y
        losses.append(np.sum(error**2))
        theta -= rate * np.array([2 * np.sum(error * x**p) for p in range(4)])
    return theta, np.array(losses)


@pytest.mark.parametrize("points", [2, 333, 5000])
@pytest.mark.parametrize("variant", variants("polynomial_fit"))
def test_theta_and_losses_are_those_of_the_descent_in_double(
    variant: Variant, points: int
):
    dtype = NUMPY_TYPES[variant[2]]
    x = np.linspace(-np.pi, np.pi, points).astype(dtype)
    y = np.sin(x).astype(dtype)
    inputs = {"x": x, "y": y, "start": START}
    rate = 5e-4 / points
    found = run(variant, "polynomial_fit", inputs, steps=60, learning_rate=rate)
    theta, loss = descend(x.astype(float), y.astype(float), 60, rate)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(found["theta"], theta, rtol=0, atol=100 * eps)
    np.testing.assert_allclose(found["loss"], loss, rtol=0, atol=200 * eps * loss[0])
    assert loss[-1] < loss[0]
    assert found["steps"].tolist() == [60]
    assert [found[name].dtype for name in ("theta", "loss", "steps")] == [
        np.float64,
        np.float64,
        np.int64,
    ]
