# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: one jit, one pass over memory into a separate array."""

import functools

import jax
import jax.numpy as jnp

from backends.python.gpu import JaxPeer


@jax.jit
def add(a, b):
    return a + b


@functools.partial(jax.jit, static_argnames=("n", "dtype"))
def fill(n, dtype):
    return jnp.arange(n, dtype=dtype)


class Jit(JaxPeer):
    method = "jit"
    description = "jit of a + b into a separate array"
    dtypes = ("f32", "f64", "i32")
    only = (("memory", "device"),)

    def upload(self):
        self.a, self.b = (self.to_device(self.inputs[name]) for name in "ab")

    def reset(self):
        self.results = ()

    def compute(self):
        self.results = add(self.a, self.b)

    def download(self):
        return {"sum": self.results}


class Cpu(Jit):
    method = "cpu"
    description = "jit, on the CPU"
    kind = "host"


class Fill(JaxPeer):
    method = "fill"
    description = "jit of jax.numpy.arange"
    dtypes = ("f32", "f64", "i32")
    only = (("memory", "device"),)
    problem = "fill"

    def reset(self):
        self.results = ()

    def compute(self):
        types = {"f32": "float32", "f64": "float64", "i32": "int32"}
        dtype = types[self.parameters["dtype"]]
        self.results = fill(n=int(self.parameters["n"]), dtype=dtype)

    def download(self):
        return {"index": self.results}


class FillCpu(Fill):
    method = "fill_cpu"
    description = "fill, on the CPU"
    kind = "host"
