# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: bandwidth of its own passes over memory, each one jit."""

import functools

import jax
import jax.numpy as jnp

from backends.python.gpu import JaxPeer

CHUNK_BYTES = 16384


@jax.jit
def add(a, b):
    return a + b


@jax.jit
def triad(a, b):
    return a + 3 * b


@jax.jit
def dot(a, b):
    return (a * b).sum(1, keepdims=True)


@jax.jit
def read(a):
    return a.sum(1, keepdims=True)


@functools.partial(jax.jit, static_argnames=("chunks", "size", "dtype"))
def write(chunks, size, dtype):
    numbers = 1 + (jnp.arange(chunks) & 127)
    return jnp.broadcast_to(numbers.astype(dtype)[:, None], (chunks, size))


class Copy(JaxPeer):
    method = "copy"
    description = "jit of jax.numpy.copy"
    dtypes = ("f32", "f64")
    problem = "copy"
    name = "values"
    run = staticmethod(jax.jit(jnp.copy))

    def upload(self):
        self.arrays = [self.to_device(array) for array in self.inputs.values()]

    def reset(self):
        self.results = ()

    def compute(self):
        self.results = self.run(*self.arrays)

    def download(self):
        return {self.name: self.results}


class CopyCpu(Copy):
    method = "copy_cpu"
    description = "copy, on the CPU"
    kind = "host"


class Add(Copy):
    method = "add"
    description = "jit of a + b into a separate array"
    problem = "add"
    run = staticmethod(add)


class AddCpu(Add):
    method = "add_cpu"
    description = "add, on the CPU"
    kind = "host"


class Triad(Copy):
    method = "triad"
    description = "jit of a + 3 b into a separate array"
    problem = "triad"
    run = staticmethod(triad)


class TriadCpu(Triad):
    method = "triad_cpu"
    description = "triad, on the CPU"
    kind = "host"


class Dot(Copy):
    method = "dot"
    description = "jit of the sum of the products of each chunk"
    problem = "dot"
    name = "sums"
    run = staticmethod(dot)


class DotCpu(Dot):
    method = "dot_cpu"
    description = "dot, on the CPU"
    kind = "host"


class Read(Copy):
    method = "read"
    description = "jit of the sum of each chunk"
    problem = "read"
    name = "sums"
    run = staticmethod(read)


class ReadCpu(Read):
    method = "read_cpu"
    description = "read, on the CPU"
    kind = "host"


class Write(Copy):
    method = "write"
    description = "jit of the number of each chunk, broadcast"
    problem = "write"

    def upload(self):
        dtype = {"f32": "float32", "f64": "float64"}[self.parameters["dtype"]]
        size = CHUNK_BYTES // jnp.dtype(dtype).itemsize
        chunks = -(-int(self.parameters["n"]) // size)
        self.run = functools.partial(write, chunks, size, dtype)
        self.arrays = []


class WriteCpu(Write):
    method = "write_cpu"
    description = "write, on the CPU"
    kind = "host"
