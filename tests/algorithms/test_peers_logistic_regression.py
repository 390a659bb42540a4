# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of logistic_regression against the descent and Newton steps in double, straight from the formula."""

import numpy as np
import pytest
from peer_support import NUMPY_TYPES, Variant, run, variants

from algorithms.logistic_regression.peers.newton import NewtonSteps
from backends.python.peer import Unsupported

RULE = {"learning_rate": 0.5, "l2": 0.0, "tolerance": 0.0}


def data(rows, features, dtype):
    random = np.random.default_rng(rows)
    columns = (random.random((features, rows)) * 2 - 1).astype(dtype)
    noise = random.random(rows) - 0.5
    labels = (columns.sum(0) + noise + 0.25 > 0).astype(np.uint8)
    return {"columns": columns, "labels": labels}


def evaluate(x, labels, theta, l2):
    """Loss, gradient and Hessian at theta; the first row of x are the intercept's ones."""
    penalty = l2 * np.diag(np.arange(len(x)) > 0)
    z = theta @ x
    terms = np.maximum(z, 0) - labels * z + np.log1p(np.exp(-np.abs(z)))
    p = 1 / (1 + np.exp(-z))
    gradient = x @ (p - labels) / labels.size + penalty @ theta
    hessian = (p * (1 - p) * x) @ x.T / labels.size + penalty
    return terms.mean() + theta @ penalty @ theta / 2, gradient, hessian


def descend(columns, labels, steps, learning_rate, l2, tolerance):
    """theta, losses, number of steps."""
    x = np.vstack([np.ones(labels.size), columns]).astype(float)
    theta, losses = np.zeros(len(x)), []
    for _ in range(steps):
        loss, gradient, _ = evaluate(x, labels, theta, l2)
        losses.append(loss)
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
    steps = 5 if variant[0] == "triton" else 25  # its interpreter is slow
    compare(variant, rows, features, steps, **RULE)


@pytest.mark.parametrize("variant", variants("logistic_regression"))
def test_penalty_leaves_the_intercept_alone(variant: Variant):
    compare(variant, 500, 3, 25, **{**RULE, "l2": 0.3})


@pytest.mark.parametrize("variant", variants("logistic_regression"))
def test_a_small_gradient_ends_the_solve(variant: Variant):
    rule = {"learning_rate": 1.0, "l2": 0.5, "tolerance": 1e-3}
    assert 1 < compare(variant, 500, 3, 60, **rule) < 60


def newton(columns, labels, steps, l2, tolerance):
    """theta, losses, number of steps; for these data no step from 0 is halved."""
    x = np.vstack([np.ones(labels.size), columns]).astype(float)
    theta, losses = np.zeros(len(x)), []
    for _ in range(steps):
        loss, gradient, hessian = evaluate(x, labels, theta, l2)
        losses.append(loss)
        theta = theta - np.linalg.solve(hessian, gradient)
        if np.abs(gradient).max() < tolerance:
            break
    taken = len(losses)
    return theta, np.array(losses + losses[-1:] * (steps - taken)), taken


NEWTON = variants("logistic_regression", "newton")


def compare_newton(variant, inputs, steps, l2=0.0, tolerance=0.0):
    inputs = {**inputs, "columns": inputs["columns"].astype(NUMPY_TYPES[variant[2]])}
    rule = {"l2": l2, "tolerance": tolerance}
    unused = {"learning_rate": 0.01}
    found = run(variant, "logistic_regression", inputs, steps=steps, **rule, **unused)
    theta, loss, taken = newton(*inputs.values(), steps, **rule)
    np.testing.assert_allclose(found["theta"], theta, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found["loss"], loss, rtol=1e-11, atol=0)
    assert found["steps"].tolist() == [taken]
    assert [value.dtype.str[1:] for value in found.values()] == ["f8", "f8", "i8"]
    return taken


@pytest.mark.parametrize(("rows", "features"), [(40, 1), (997, 2), (9001, 17)])
@pytest.mark.parametrize("variant", NEWTON)
def test_newton(variant: Variant, rows: int, features: int):
    assert compare_newton(variant, data(rows, features, float), 4) == 4


@pytest.mark.parametrize("variant", NEWTON)
def test_newton_ends_where_the_gradient_is_small(variant: Variant):
    """The penalty excludes the intercept; losses after the end repeat the last one."""
    rule = {"l2": 0.01, "tolerance": 1e-6}
    assert 3 < compare_newton(variant, data(500, 3, float), 60, **rule) < 10


class Scripted(NewtonSteps):
    """Returns given losses and gradients for any theta; a step is (4, -8)."""

    def __init__(self, tolerance, *found):
        self.parameters = {"tolerance": tolerance}
        self.found, self.thetas = list(found), []
        self.theta, self.before, self.direction = np.zeros((3, 2))
        self.loss, self.taken = np.zeros(len(found)), np.zeros(1, np.int64)

    def begin(self):
        self.theta[:] = 1, 2

    def look(self):
        self.thetas.append(self.theta.tolist())
        return self.found[len(self.thetas) - 1]

    def solve(self):
        return np.array([4.0, -8.0])


def test_a_newton_step_that_grows_the_loss_is_halved():
    solve = Scripted(0, (0.5, 1), (0.9, 1), (0.9, 1), (0.5004, 1), (0.5, 1))
    solve.compute()
    assert solve.thetas == [[1, 2], [5, -6], [3, -2], [2, 0], [6, -8]]
    assert solve.theta.tolist() == [10, -16]
    assert solve.loss.tolist() == [0.5, 0.9, 0.9, 0.5004, 0.5]


def test_a_newton_step_is_halved_thirty_times_at_most():
    solve = Scripted(0, (0.5, 1), *[(0.9, 1)] * 31)
    solve.compute()
    assert solve.thetas[31] == [1 + 4 / 2**30, 2 - 8 / 2**30]
    assert solve.theta.tolist() == [5 + 4 / 2**30, -6 - 8 / 2**30]


def test_a_newton_step_that_is_taken_back_does_not_end_the_solve():
    solve = Scripted(0.1, (0.5, 1), (0.9, 0), (0.4, 0), (0.3, 0))
    solve.compute()
    assert solve.taken.tolist() == [3]
    assert solve.loss.tolist() == [0.5, 0.9, 0.4, 0.4]


@pytest.mark.parametrize("variant", NEWTON)
def test_a_hessian_that_is_not_definite_has_no_step(variant: Variant):
    inputs = {"columns": np.zeros((1, 8)), "labels": np.arange(8, dtype=np.uint8) % 2}
    inputs["columns"] = inputs["columns"].astype(NUMPY_TYPES[variant[2]])
    found = run(variant, "logistic_regression", inputs, steps=2, l2=0, tolerance=0)
    assert np.isnan(found["theta"]).any()
