# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy: differences coordinate by coordinate, and the expanded form with a matrix product."""

import numpy as np

from backends.python.peer import HostPeer

BLOCK = 1 << 18  # values per block of rows, which stays in cache


class Direct(HostPeer):
    method = "direct"
    description = "squared differences, one coordinate and block of rows at a time"
    dtypes = ("f32", "f64")

    def upload(self):
        self.points = self.inputs["points"].copy()
        n = len(self.points)
        self.distances = np.empty((n, n), self.points.dtype)

    def reset(self):
        self.distances.fill(np.nan)

    def compute(self):
        columns = self.points.T.copy()
        rows = max(1, BLOCK // len(self.points))
        for first in range(0, len(self.points), rows):
            out = self.distances[first : first + rows]
            out.fill(0)
            for column in columns:
                difference = column[first : first + rows, None] - column
                out += difference * difference
            if self.parameters["metric"] == "euclidean":
                np.sqrt(out, out=out)

    def download(self):
        return {"distances": self.distances}


class Product(Direct):
    method = "product"
    description = "|x|^2 + |y|^2 - 2 x.y by numpy.matmul"
    dtypes = ("f32", "f64")
    forms = (("distances", "expanded"),)
    norms_by = "norms"  #: the stage

    def norms(self):
        return np.square(self.points).sum(1)

    def compute(self):
        out, norms = self.distances, self.norms()
        if self.trace:
            self.trace.end(self.norms_by)
        np.matmul(self.points, self.points.T, out=out)
        if self.trace:
            self.trace.end("matmul")
        out *= -2
        out += norms
        out += norms[:, None]
        np.maximum(out, 0, out=out)
        np.fill_diagonal(out, 0)
        if self.parameters["metric"] == "euclidean":
            np.sqrt(out, out=out)
        if self.trace:
            self.trace.end("rest")


class Einsum(Product):
    method = "einsum"
    description = "product, the norms by numpy.einsum"
    norms_by = "einsum"

    def norms(self):
        return np.einsum("ij,ij->i", self.points, self.points)
