# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numba: queries in parallel on the CPU; tiles of products and the k best on the way on the GPU.

Keys |y|^2 / 2 - x.y are compared in double, into which products and norms of pixels come exactly.
"""

import math

import numba
import numpy as np
from numba import cuda, float32, float64, int64

from algorithms.knn import neighbours
from backends.python.gpu import NumbaCudaPeer
from backends.python.peer import NumbaPeer

TILE = 16  # queries, training rows and features of a block's tile on the GPU
BLOCK = 16  # queries of a thread on the CPU, which pass the training rows together


@numba.njit(fastmath={"reassoc", "nsz", "contract"})
def dot(x, y):
    total = x.dtype.type(0)
    for f in range(x.size):
        total += x[f] * y[f]
    return total


@numba.njit(inline="always")
def insert(keys, rows, key, row):
    """Puts a row into its place in lists that are sorted by key; equals come before it."""
    at = keys.size - 1
    while at > 0 and keys[at - 1] > key:
        keys[at], rows[at] = keys[at - 1], rows[at - 1]
        at -= 1
    keys[at], rows[at] = key, row


@numba.njit(parallel=True)
def search(train, test, half, found):
    blocks = (len(test) + BLOCK - 1) // BLOCK
    for block in numba.prange(blocks):
        first, last = block * BLOCK, min((block + 1) * BLOCK, len(test))
        keys = np.full((BLOCK, found.shape[1]), np.inf)
        for row in range(len(train)):
            for query in range(first, last):
                key = float64(half[row]) - float64(dot(test[query], train[row]))
                if key < keys[query - first, -1]:
                    insert(keys[query - first], found[query], key, row)


class Parallel(NumbaPeer):
    method = "parallel"
    description = "numba.prange over blocks of queries, the k best on the way"
    dtypes = ("f32", "i32", "u8")

    def upload(self):
        names = ("train", "train_labels", "test")
        self.train, self.labels, self.test = (self.inputs[n].copy() for n in names)
        self.pixels = neighbours.are_pixels(self.train, self.test)

    def reset(self):
        self.results = None

    def compute(self):
        k = int(self.parameters["k"])
        train = neighbours.packed(np, self.train, self.pixels)
        test = neighbours.packed(np, self.test, self.pixels)
        half = np.square(train).sum(axis=1) / 2
        found = np.zeros((len(test), k), np.int64)
        search(train, test, half, found)
        rows = (self.train, self.labels, self.test)
        votes = self.parameters["votes"]
        self.results = neighbours.finish(np, *rows, found, k, votes)

    def download(self):
        return self.results


def kernel_of(k):
    """A block takes 16 queries and passes the training rows; a thread one product of each tile, and the
    first 16 threads look at those of a query each."""

    @cuda.jit
    def kernel(train, test, half, found):
        x = cuda.shared.array((TILE, TILE + 1), float32)
        y = cuda.shared.array((TILE, TILE + 1), float32)
        products = cuda.shared.array((TILE, TILE + 1), float32)
        best = cuda.local.array(k, float64)
        rows = cuda.local.array(k, int64)
        i, j = cuda.threadIdx.y, cuda.threadIdx.x
        begin, features = cuda.blockIdx.x * TILE, train.shape[1]
        for n in range(k):
            best[n], rows[n] = math.inf, 0
        for first in range(0, train.shape[0], TILE):
            total = float32(0)
            for f in range(0, features, TILE):
                x[i, j] = y[i, j] = float32(0)
                if f + j < features and begin + i < test.shape[0]:
                    x[i, j] = test[begin + i, f + j]
                if f + j < features and first + i < train.shape[0]:
                    y[i, j] = train[first + i, f + j]
                cuda.syncthreads()
                for step in range(TILE):
                    total += x[i, step] * y[j, step]
                cuda.syncthreads()
            products[i, j] = total
            cuda.syncthreads()
            if i == 0:
                for n in range(min(TILE, train.shape[0] - first)):
                    key = float64(half[first + n]) - float64(products[j, n])
                    at = k
                    while at > 0 and best[at - 1] > key:
                        if at < k:
                            best[at], rows[at] = best[at - 1], rows[at - 1]
                        at -= 1
                    if at < k:
                        best[at], rows[at] = key, first + n
            cuda.syncthreads()
        if i == 0 and begin + j < test.shape[0]:
            for n in range(k):
                found[begin + j, n] = rows[n]

    return kernel


class Raw(NumbaCudaPeer):
    method = "raw"
    description = (
        "a kernel of Numba's: 16 x 16 tiles, the k best on the way; votes on the host"
    )
    dtypes = ("f32", "i32", "u8")

    def upload(self):
        names = ("train", "train_labels", "test")
        self.train, self.labels, self.test = (self.inputs[n].copy() for n in names)
        self.k = int(self.parameters["k"])
        pixels = neighbours.are_pixels(self.train, self.test)
        train, test = (
            neighbours.packed(np, rows, pixels) for rows in (self.train, self.test)
        )
        half = np.square(train).sum(axis=1) / 2
        arrays = (train, test, half, np.full((len(test), self.k), -1))
        self.arrays = [cuda.to_device(array) for array in arrays]
        self.kernel = kernel_of(self.k)

    def reset(self):
        self.arrays[-1].copy_to_device(np.full((len(self.test), self.k), -1))

    def compute(self):
        blocks = -(-len(self.test) // TILE)
        self.kernel[blocks, (TILE, TILE)](*self.arrays)

    def download(self):
        found = self.arrays[-1].copy_to_host()
        rows = (self.train, self.labels, self.test)
        votes = self.parameters["votes"]
        return neighbours.finish(np, *rows, found, self.k, votes)
