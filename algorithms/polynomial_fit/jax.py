# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: one jit of a scan over all steps, so that none returns to the host: products with the matrix of powers.

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


class Scan(JaxPeer):
    method = "scan"
    description = "jit of a scan over all steps: two matrix-vector products"
    dtypes = ("f32", "f64")

    def upload(self):
        x = self.inputs["x"]
        self.powers = jnp.array(np.stack([x**p for p in range(4)]))  # [4 x points]
        self.y = jnp.array(self.inputs["y"])
        self.start = jnp.array(self.inputs["start"])

    def reset(self):
        self.results = ()

    def compute(self):
        rate, steps = (self.parameters[name] for name in ("learning_rate", "steps"))
        arrays = (self.powers, self.y, self.start)
        self.results = descend(*arrays, float(rate), steps=int(steps))

    def download(self):
        theta, loss = self.results
        return {"theta": theta, "loss": loss, "steps": np.array([len(loss)])}


class Cpu(Scan):
    method = "cpu"
    description = "scan, on the CPU"
    kind = "host"
