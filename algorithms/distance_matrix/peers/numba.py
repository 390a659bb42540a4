# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numba: on the CPU rows in parallel, vectorised along them; on the GPU one thread per value."""

import math

import numba
import numpy as np
from numba import cuda

from backends.python.gpu import NumbaCudaPeer
from backends.python.peer import NumbaPeer


@numba.njit(parallel=True, fastmath={"contract"})
def distances_of(columns, euclidean, out):
    dimension, n = columns.shape
    for row in numba.prange(n):
        values = out[row]
        values[:] = 0
        for k in range(dimension):
            x = columns[k, row]
            for column in range(n):
                difference = columns[k, column] - x
                values[column] += difference * difference
        if euclidean:
            for column in range(n):
                values[column] = math.sqrt(values[column])


class Parallel(NumbaPeer):
    method = "parallel"
    description = "numba.prange over rows, differences along them"
    dtypes = ("f32", "f64")

    def upload(self):
        self.points = self.inputs["points"].copy()
        n = len(self.points)
        self.distances = np.empty((n, n), self.points.dtype)

    def reset(self):
        self.distances.fill(np.nan)

    def compute(self):
        columns = np.ascontiguousarray(self.points.T)
        euclidean = self.parameters["metric"] == "euclidean"
        distances_of(columns, euclidean, self.distances)

    def download(self):
        return {"distances": self.distances}


@cuda.jit
def kernel(points, euclidean, out):
    column, row = cuda.grid(2)
    if row >= points.shape[0] or column >= points.shape[0]:
        return
    total = points[0, 0] - points[0, 0]  # 0 of the points' type
    for k in range(points.shape[1]):
        difference = points[row, k] - points[column, k]
        total += difference * difference
    out[row, column] = math.sqrt(total) if euclidean else total


class Raw(NumbaCudaPeer):
    method = "raw"
    description = "a Numba kernel, one thread per value"
    dtypes = ("f32", "f64")

    def upload(self):
        self.points = self.to_device(self.inputs["points"])
        n = len(self.points)
        self.distances = cuda.device_array((n, n), self.points.dtype)

    def reset(self):
        nothing = np.full(self.distances.shape, np.nan, self.distances.dtype)
        self.distances.copy_to_device(nothing)

    def compute(self):
        n = len(self.points)
        grid, block = (-(-n // 64), -(-n // 4)), (64, 4)
        euclidean = self.parameters["metric"] == "euclidean"
        kernel[grid, block](self.points, euclidean, self.distances)

    def download(self):
        return {"distances": self.to_host(self.distances)}
