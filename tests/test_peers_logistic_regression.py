# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of logistic_regression against the descent in double, straight from the formula."""

import numpy as np
import pytest
from peer_support import NUMPY_TYPES, Variant, run, variants

from backends.python.peer import Unsupported

RULE = {"learning_rate": 0.5, "l2": 0.0, "tolerance": 0.0}


def data(rows, features, dtype):
    random = np.random.default_rng(rows)
    columns = (random.random((features, rows)) * 2 - 1).astype(dtype)
    noise = random.random(rows) - 0.5
    labels = (columns.sum(0) + noise + 0.25 > 0).astype(np.uint8)
    return {"columns": columns, "labels": labels}


def descend(columns, labels, steps, learning_rate, l2, tolerance):
    """theta, losses, steps taken."""
    x = np.vstack([np.ones(labels.size), columns]).astype(float)
    theta, losses = np.zeros(len(x)), []
    for _ in range(steps):
        z, penalised = theta @ x, theta * (np.arange(len(x)) > 0)
        terms = np.maximum(z, 0) - labels * z + np.log1p(np.exp(-np.abs(z)))
        losses.append(terms.mean() + l2 / 2 * penalised @ penalised)
        excess = 1 / (1 + np.exp(-z)) - labels
        gradient = x @ excess / labels.size + l2 * penalised
        theta = theta - learning_rate * gradient
        if np.abs(gradient).max() < tolerance:
            break
    taken = len(losses)
    return theta, np.array(losses + losses[-1:] * (steps - taken)), taken


def compare(variant, rows, features, steps, **rule):
    dtype = NUMPY_TYPES[variant[2]]
    inputs = data(rows, features, dtype)
    try:
        found = run(variant, "logistic_regression", inputs, steps=steps, **rule)
    except Unsupported as why:
        pytest.skip(str(why))
    theta, loss, taken = descend(*inputs.values(), steps, **rule)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(found["theta"], theta, rtol=0, atol=100 * eps)
    np.testing.assert_allclose(found["loss"], loss, rtol=0, atol=100 * eps)
    assert found["steps"].tolist() == [taken]
    assert found["steps"].dtype == np.int64
    return taken


@pytest.mark.parametrize(("rows", "features"), [(1, 1), (997, 2), (9001, 17)])
@pytest.mark.parametrize("variant", variants("logistic_regression"))
def test_descent(variant: Variant, rows: int, features: int):
    compare(variant, rows, features, 25, **RULE)


@pytest.mark.parametrize("variant", variants("logistic_regression"))
def test_penalty_leaves_the_intercept_alone(variant: Variant):
    compare(variant, 500, 3, 25, **{**RULE, "l2": 0.3})


@pytest.mark.parametrize("variant", variants("logistic_regression"))
def test_a_small_gradient_ends_the_solve(variant: Variant):
    rule = {"learning_rate": 1.0, "l2": 0.5, "tolerance": 1e-3}
    assert 1 < compare(variant, 500, 3, 60, **rule) < 60
