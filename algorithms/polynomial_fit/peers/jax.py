# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: one jit of a scan over all steps, so that none returns to the host: products with the matrix of powers, or on moments.

theta is kept in double: its updates are smaller than the last digit of a float.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from backends.python.gpu import JaxPeer


@functools.partial(jax.jit, static_argnames="steps")
def descend(powers, y, theta, rate, steps):
    """theta after all steps, and the loss before each."""

    def take(theta, _):
        error = theta.astype(y.dtype) @ powers - y
        loss, slopes = error @ error, 2 * (powers @ error)
        return theta - rate * slopes.astype(float), loss.astype(float)

    return jax.lax.scan(take, theta, length=steps)


@functools.partial(jax.jit, static_argnames="steps")
def descend_on_moments(x, y, theta, rate, steps):
    """As `descend`, with one pass over the points."""
    x = x.astype(float)
    columns = jnp.stack([jnp.ones_like(x), x, x**2, x**3, y.astype(float)])
    products = columns @ columns.T
    gram, right, square = products[:-1, :-1], products[:-1, -1], products[-1, -1]

    def take(theta, _):
        slopes = gram @ theta - right
        loss = jnp.maximum(square + theta @ (slopes - right), 0)
        return theta - 2 * rate * slopes, loss

    return jax.lax.scan(take, theta, length=steps)


class Scan(JaxPeer):
    method = "scan"
    description = "jit of a scan over all steps: two matrix-vector products"
    dtypes = ("f32", "f64")
    descend = staticmethod(descend)

    def upload(self):
        self.x = self.to_device(self.columns())
        self.y = self.to_device(self.inputs["y"])
        self.start = self.to_device(self.inputs["start"])

    def columns(self):
        x = self.inputs["x"]
        return np.stack([x**p for p in range(4)])  # [4 x points]

    def reset(self):
        self.results = ()

    def compute(self):
        rate, steps = (self.parameters[name] for name in ("learning_rate", "steps"))
        arrays = (self.x, self.y, self.start)
        self.results = self.descend(*arrays, float(rate), steps=int(steps))

    def download(self):
        theta, loss = self.results
        return {"theta": theta, "loss": loss, "steps": np.array([len(loss)])}


class Cpu(Scan):
    method = "cpu"
    description = "scan, on the CPU"
    kind = "host"


class Moments(Scan):
    method = "moments"
    description = "jit: products of powers in double, then a scan over steps on them"
    descend = staticmethod(descend_on_moments)

    def columns(self):
        return self.inputs["x"]


class MomentsCpu(Moments):
    method = "moments_cpu"
    description = "moments, on the CPU"
    kind = "host"
