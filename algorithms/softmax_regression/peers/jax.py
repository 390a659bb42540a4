# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: one jit of a scan over all steps, without returning to the host; with fp32 products, and with tf32.

theta, biases last, is kept in double: its updates may be smaller than the last digit of a float. tf32 holds
pixels exactly, and rounds weights and residuals to 11 bits; the same error bound applies.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from algorithms.softmax_regression.peers.rows import task_of
from backends.python.gpu import JaxPeer
from backends.python.peer import Unsupported


@functools.partial(
    jax.jit, static_argnames=("count", "batch", "classes", "scale", "steps")
)
def descend(rows, labels, rate, l2, *, count, batch, classes, scale, steps):
    """theta, and the loss before each step. Rows after the first `count` are padding of the last batch."""
    batches = -(-count // batch)

    def take(theta, step):
        first = step % batches * batch
        x, of = rows, labels
        if batches > 1:
            cut = functools.partial(jax.lax.dynamic_slice_in_dim, slice_size=batch)
            x, of = cut(rows, first), cut(labels, first)
        weights, biases = theta[:-1], theta[-1]
        z = x @ (weights * scale).astype(x.dtype) + biases.astype(x.dtype)
        logs = jax.nn.log_softmax(z)
        right = jax.nn.one_hot(of, classes, dtype=x.dtype)
        residuals, mine = jnp.exp(logs) - right, batch
        if count % batch:  # valid rows
            mine = jnp.minimum(batch, count - first)
            there = (jnp.arange(batch) < mine)[:, None]
            residuals, right = (jnp.where(there, a, 0) for a in (residuals, right))
        loss = -(logs * right).sum(dtype=float) / mine
        loss += l2 / 2 * jnp.square(weights).sum()
        weights = (1 - rate * l2) * weights - rate / mine * scale * (x.T @ residuals)
        biases = biases - rate / mine * residuals.sum(0, dtype=float)
        return jnp.vstack([weights, biases]), loss

    theta = jnp.zeros((rows.shape[1] + 1, classes))
    return jax.lax.scan(take, theta, jnp.arange(steps))


class Scan(JaxPeer):
    method = "scan"
    description = "jit of a scan over all steps: two products in fp32"
    dtypes = ("f32",)
    forms = (("theta", "product"),)

    def upload(self):
        self.task = task = task_of(self)
        fill = task.batches * task.batch - len(task.labels)
        self.rows = self.to_device(np.pad(task.rows, ((0, fill), (0, 0))))
        self.labels = self.to_device(np.pad(task.labels, (0, fill)))
        sizes = {name: getattr(task, name) for name in ("classes", "scale", "steps")}
        self.sizes = {"count": len(task.labels), "batch": task.batch, **sizes}

    def reset(self):
        self.results = ()

    def compute(self):
        rule = (self.task.rate, self.task.l2)
        self.results = descend(self.rows, self.labels, *rule, **self.sizes)

    def download(self):
        theta, loss = self.results
        return {"theta": theta, "loss": loss, "steps": np.array([len(loss)])}


class Cpu(Scan):
    method = "cpu"
    description = "scan, on the CPU"
    kind = "host"


class Tf32(Scan):
    method = "tf32"
    description = "scan, with products in tf32"
    dtypes = ("f32",)
    units = (("f32", "tf32 tensor"),)

    def upload(self):
        super().upload()
        if not self.task.pixels:
            raise Unsupported("takes pixels, which tf32 holds exactly")

    def compute(self):
        with jax.default_matmul_precision("tensorfloat32"):
            super().compute()
