# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: differences by one fused kernel per coordinate, and the expanded form with a matrix product."""

import cupy

from backends.python.gpu import CupyPeer


class Direct(CupyPeer):
    method = "direct"
    description = "an ElementwiseKernel over all pairs, one per coordinate"
    dtypes = ("f32", "f64")

    def upload(self):
        self.points = self.to_device(self.inputs["points"])
        n = len(self.points)
        self.distances = cupy.empty((n, n), self.points.dtype)
        self.add = cupy.ElementwiseKernel(
            "T x, T y, T sum", "T out", "out = sum + (x - y) * (x - y)", "add_square"
        )

    def reset(self):
        self.distances.fill(cupy.nan)

    def compute(self):
        self.distances.fill(0)
        for column in self.points.T:
            self.add(column[:, None], column, self.distances, self.distances)
        if self.parameters["metric"] == "euclidean":
            cupy.sqrt(self.distances, out=self.distances)

    def download(self):
        return {"distances": self.to_host(self.distances)}


class Product(Direct):
    method = "product"
    description = "|x|^2 + |y|^2 - 2 x.y by cupy.matmul"
    dtypes = ("f32", "f64")
    forms = (("distances", "expanded"),)
    norms_by = "norms"  #: the stage

    def norms(self):
        return cupy.square(self.points).sum(1)

    def compute(self):
        out, norms = self.distances, self.norms()
        if self.trace:
            self.trace.end(self.norms_by)
        cupy.matmul(self.points, self.points.T, out=out)
        if self.trace:
            self.trace.end("matmul")
        out *= -2
        out += norms
        out += norms[:, None]
        cupy.maximum(out, 0, out=out)
        cupy.fill_diagonal(out, 0)
        if self.parameters["metric"] == "euclidean":
            cupy.sqrt(out, out=out)
        if self.trace:
            self.trace.end("rest")


class Einsum(Product):
    method = "einsum"
    description = "product, the norms by cupy.einsum"
    norms_by = "einsum"

    def norms(self):
        return cupy.einsum("ij,ij->i", self.points, self.points)
