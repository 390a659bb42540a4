# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of linear_regression against the descent, and the minimum, in double."""

import numpy as np
import pytest
from peer_support import NUMPY_TYPES, Variant, run, variants

SHAPES = [(2, 1), (5, 1), (998, 1), (2503, 3), (20_011, 8)]


def training_data(points, features, dtype):
    """Points, and the columns [features, 1] of the first 80 % with their targets, in double."""
    random = np.random.default_rng(points)
    x = (random.random((features, points)) * 2 - 0.5).astype(dtype)
    y = (random.random(features) @ x + 0.3 + random.random(points)).astype(dtype)
    rows = points * 4 // 5
    columns = np.vstack([x[:, :rows], np.ones(rows)]).astype(float)
    return {"x": x, "y": y}, columns, y[:rows].astype(float)


def descend(columns, y, theta, steps, rate):
    losses = []
    for _ in range(steps):
        error = theta @ columns - y
        losses.append(np.mean(error**2) / 2)
        theta = theta - rate * (columns @ error) / y.size
    return theta, np.array(losses)


@pytest.mark.parametrize("start", ["zero", "study"])
@pytest.mark.parametrize(("points", "features"), SHAPES)
@pytest.mark.parametrize("variant", variants("linear_regression"))
def test_descent(variant: Variant, points: int, features: int, start: str):
    dtype = NUMPY_TYPES[variant[2]]
    inputs, columns, y = training_data(points, features, dtype)
    parameters = {"steps": 30, "learning_rate": 0.05, "start": start}
    found = run(variant, "linear_regression", inputs, **parameters)
    first = np.array([0.83] * features + [0.7645]) * (start == "study")
    theta, loss = descend(columns, y, first, 30, 0.05)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(found["theta"], theta, rtol=0, atol=20 * eps)
    scale = loss[0]
    if variant[0] == "jax" and variant[1].startswith("moments"):
        scale = max(scale, np.mean(y**2) / 2)  # a loss is a difference from this
    np.testing.assert_allclose(found["loss"], loss, rtol=0, atol=30 * eps * scale)
    assert found["steps"].tolist() == [30]
    assert found["steps"].dtype == np.int64


@pytest.mark.parametrize(("points", "features"), SHAPES[2:])
@pytest.mark.parametrize("variant", variants("linear_regression", "normal_equations"))
def test_minimum(variant: Variant, points: int, features: int):
    inputs, columns, y = training_data(points, features, NUMPY_TYPES[variant[2]])
    found = run(variant, "linear_regression", inputs, steps=1)
    theta, *_ = np.linalg.lstsq(columns.T, y, rcond=None)
    assert list(found) == ["theta"]
    np.testing.assert_allclose(found["theta"], theta, rtol=0, atol=1e-11)
