# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: its own sum, jitted: floats are converted to double, 32-bit integers to 64 bits, as they are added."""

import functools

import jax
import jax.numpy as jnp

from backends.python.gpu import JaxPeer


@functools.partial(jax.jit, static_argnames="dtype")
def add_up(x, dtype):
    return jnp.sum(x, dtype=dtype, keepdims=True)


class Jit(JaxPeer):
    method = "jit"
    description = "jit of jax.numpy.sum in double, or 64-bit integers"
    dtypes = ("f32", "f64", "i32")
    forms = (("sum", "any order"),)

    def upload(self):
        self.x = self.to_device(self.inputs["x"])
        self.dtype = "int64" if self.parameters["dtype"] == "i32" else "float64"

    def reset(self):
        self.results = ()

    def compute(self):
        self.results = add_up(self.x, self.dtype)

    def download(self):
        return {"sum": self.results}


class Cpu(Jit):
    method = "cpu"
    description = "jit, on the CPU"
    kind = "host"
