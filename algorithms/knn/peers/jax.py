# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: one jit per block of queries: a matrix product, top_k, and the vote of the neighbours found.

Pixels minus 128 are exact in tf32, bf16 and int8, and their sums of products in f32 or int32, so that all
methods give the same results on them. On ties top_k takes the lower index first.
"""

import functools

import jax
import jax.numpy as jnp

from algorithms.knn.peers import neighbours
from backends.python.gpu import JaxPeer
from backends.python.peer import Unsupported


def packed(rows, pixels, unit):
    """Rows converted for the product, and the term added to it: half the norm; for integers the whole norm."""
    if unit == "int8":
        rows = (rows.astype(jnp.int32) - 128).astype(unit)
        return rows, jnp.square(rows.astype(jnp.int32)).sum(1, dtype=jnp.int32)
    rows = neighbours.packed(jnp, rows, pixels)
    return rows.astype(unit), jnp.square(rows).sum(1) / 2


@functools.partial(jax.jit, static_argnames=("pixels", "unit", "k", "votes", "block"))
def classify(train, labels, test, *, pixels, unit, k, votes, block):
    """Labels, neighbours and their distances, `block` queries at a time."""
    targets, norms = packed(train, pixels, unit)
    factor = 2 if unit == "int8" else 1

    def block_of(queries):
        rows, _ = packed(queries, pixels, unit)
        products = jax.lax.dot_general(
            *(rows, targets, (((1,), (1,)), ((), ()))),
            preferred_element_type=norms.dtype,
        )
        _, found = jax.lax.top_k(factor * products - norms, k)
        found = jnp.sort(found, axis=1)
        squared = neighbours.squares(jnp, train[found], queries[:, None])
        order = jnp.argsort(squared, axis=1, stable=True)
        found = jnp.take_along_axis(found, order, axis=1)
        distances = jnp.sqrt(jnp.take_along_axis(squared, order, axis=1))
        winners = neighbours.votes_of(jnp, votes, labels[found], distances)
        return winners, found.astype(jnp.int64), distances

    blocks = jnp.pad(test, ((0, -len(test) % block), (0, 0)))
    blocks = blocks.reshape(-1, block, test.shape[1])
    results = jax.lax.map(block_of, blocks)
    return [part.reshape(-1, *part.shape[2:])[: len(test)] for part in results]


class Jit(JaxPeer):
    method = "jit"
    description = "jit: jax.numpy.matmul in fp32, jax.lax.top_k"
    dtypes = ("f32", "i32", "u8")
    unit = "float32"

    def upload(self):
        names = ("train", "train_labels", "test")
        rows = [self.inputs[name] for name in names]
        self.pixels = neighbours.are_pixels(rows[0], rows[2])
        self.rows = [self.to_device(r) for r in rows]
        columns = 4 * len(rows[0])  # top_k may sort keys and indices
        max_rows = neighbours.block_rows(columns, self.device.memory_bytes)
        names = ("k", "votes")
        self.rule = {name: self.parameters[name] for name in names}
        self.rule |= {"pixels": self.pixels, "unit": self.unit}
        self.rule["block"] = max(1, min(max_rows, len(rows[2])))

    def reset(self):
        self.results = ()

    def compute(self):
        self.results = classify(*self.rows, **self.rule)

    def download(self):
        names = ("labels", "neighbours", "neighbour_distances")
        return dict(zip(names, self.results, strict=True))


class Cpu(Jit):
    method = "cpu"
    description = "jit, on the CPU"
    kind = "host"


class Tf32(Jit):
    method = "tf32"
    description = "jit, with products in tf32"
    dtypes = ("f32", "i32", "u8")
    units = (("f32", "tf32 tensor"), ("i32", "tf32 tensor"), ("u8", "tf32 tensor"))

    def upload(self):
        super().upload()
        if not self.pixels:
            raise Unsupported("takes pixels of up to 1024 features: others need fp32")

    def compute(self):
        with jax.default_matmul_precision("tensorfloat32"):
            super().compute()


class Bf16(Tf32):
    method = "bf16"
    description = "jit, with products of bf16 into fp32"
    dtypes = ("f32", "i32", "u8")
    units = (("f32", "bf16 tensor"), ("i32", "bf16 tensor"), ("u8", "bf16 tensor"))
    unit = "bfloat16"


class Int8(Jit):
    method = "i8"
    description = "jit, with products of int8 into int32"
    dtypes = ("f32", "i32", "u8")
    units = (("f32", "u8 tensor"), ("i32", "u8 tensor"), ("u8", "u8 tensor"))
    unit = "int8"

    def upload(self):
        super().upload()
        max_features, rows = neighbours.EXACT_FEATURES_I32, ("train", "test")
        if not neighbours.are_pixels(
            *(self.inputs[n] for n in rows), features=max_features
        ):
            raise Unsupported(f"takes pixels of up to {max_features} features: bytes")
