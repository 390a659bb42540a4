# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: one jit of a scan over all steps, so that none returns to the host; on moments; the normal equations.

theta, bias last, is kept in double: its updates may be smaller than the last digit of a float. TF32 has no
part here: matrix-vector products do not use it.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from algorithms.linear_regression.peers.rows import start_of, training_rows
from backends.python.gpu import JaxPeer


@functools.partial(jax.jit, static_argnames="steps")
def descend(x, y, theta, rate, steps):
    """theta after all steps, and the loss before each."""

    def take(theta, _):
        narrow = theta.astype(y.dtype)
        error = narrow[:-1] @ x + narrow[-1] - y
        loss = error @ error / (2 * len(y))
        slopes = jnp.append((x @ error).astype(float), error.sum(dtype=float))
        return theta - rate / len(y) * slopes, loss.astype(float)

    return jax.lax.scan(take, theta, length=steps)


def products_of(x, y):
    """Of the columns [features, 1, target] with each other, in double."""
    columns = jnp.vstack([x, jnp.ones_like(y, float), y])
    return columns @ columns.T


@functools.partial(jax.jit, static_argnames="steps")
def descend_on_moments(x, y, theta, rate, steps):
    """As `descend`, with one pass over the rows."""
    products = products_of(x, y)
    gram, right, square = products[:-1, :-1], products[:-1, -1], products[-1, -1]

    def take(theta, _):
        slopes = gram @ theta - right
        errors = jnp.maximum(square + theta @ (slopes - right), 0)
        return theta - rate / len(y) * slopes, errors / (2 * len(y))

    return jax.lax.scan(take, theta, length=steps)


@jax.jit
def solve(x, y):
    """theta where the gradient is 0."""
    products = products_of(x, y)[:-1]
    factor = jax.scipy.linalg.cho_factor(products[:, :-1])
    return jax.scipy.linalg.cho_solve(factor, products[:, -1])


class Regression(JaxPeer):
    """Columns [features x rows] and targets [rows]."""

    def upload(self):
        rows = training_rows(self.inputs["y"].size)
        self.x = self.to_device(self.inputs["x"][:, :rows])
        self.y = self.to_device(self.inputs["y"][:rows])

    def reset(self):
        self.results = ()


class Scan(Regression):
    method = "scan"
    description = "jit of a scan over all steps: matrix-vector products"
    dtypes = ("f32", "f64")
    descend = staticmethod(descend)

    def upload(self):
        super().upload()
        self.start = jnp.array(start_of(self))

    def compute(self):
        rate, steps = (self.parameters[name] for name in ("learning_rate", "steps"))
        rule = (self.start, float(rate), int(steps))
        self.results = self.descend(self.x, self.y, *rule)

    def download(self):
        theta, loss = self.results
        return {"theta": theta, "loss": loss, "steps": np.array([len(loss)])}


class Cpu(Scan):
    method = "cpu"
    description = "scan, on the CPU"
    kind = "host"


class Moments(Scan):
    method = "moments"
    description = "jit: products in double, then a scan over steps on them"
    descend = staticmethod(descend_on_moments)


class MomentsCpu(Moments):
    method = "moments_cpu"
    description = "moments, on the CPU"
    kind = "host"


class NormalEquations(Regression):
    method = "normal_equations"
    description = "jit: products in double, a Cholesky factorisation"
    dtypes = ("f32", "f64")
    problem = "normal_equations"

    def compute(self):
        self.results = solve(self.x, self.y)

    def download(self):
        return {"theta": self.results}


class NormalEquationsCpu(NormalEquations):
    method = "normal_equations_cpu"
    description = "normal_equations, on the CPU"
    kind = "host"
