# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: the formula, and the expanded form with a matrix product, jitted.

No method with TF32: coordinates are not whole numbers, and rounding them to 11 bits exceeds the bound.
"""

import functools

import jax
import jax.numpy as jnp

from backends.python.gpu import JaxPeer


@functools.partial(jax.jit, static_argnames="euclidean")
def direct(points, euclidean):
    squared = jnp.square(points[:, None] - points).sum(2)
    return jnp.sqrt(squared) if euclidean else squared


@functools.partial(jax.jit, static_argnames="euclidean")
def product(points, euclidean):
    norms = jnp.square(points).sum(1)
    squared = norms[:, None] + norms - 2 * (points @ points.T)
    number = jnp.arange(len(points))
    apart = number[:, None] != number
    squared = jnp.where(apart, jnp.maximum(squared, 0), 0)
    return jnp.sqrt(squared) if euclidean else squared


class Direct(JaxPeer):
    method = "direct"
    description = "jit of the differences: one kernel, no temporary"
    dtypes = ("f32", "f64")
    distances = staticmethod(direct)

    def upload(self):
        self.points = self.to_device(self.inputs["points"])

    def reset(self):
        self.results = ()

    def compute(self):
        euclidean = self.parameters["metric"] == "euclidean"
        self.results = self.distances(self.points, euclidean=euclidean)

    def download(self):
        return {"distances": self.results}


class DirectCpu(Direct):
    method = "direct_cpu"
    description = "direct, on the CPU"
    kind = "host"


class Product(Direct):
    method = "product"
    description = "jit of |x|^2 + |y|^2 - 2 x.y, jax.numpy.matmul"
    dtypes = ("f32", "f64")
    forms = (("distances", "expanded"),)
    distances = staticmethod(product)


class ProductCpu(Product):
    method = "product_cpu"
    description = "product, on the CPU"
    kind = "host"
