# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numba: on the CPU queries in parallel, on the GPU tiles of products; both with k-best lists.

Keys |y|^2 / 2 - x.y are compared in double; for pixels, products and norms are exact.
"""

import numba
import numpy as np
from numba import cuda, float64

from algorithms.knn.peers import neighbours, numba_kernels
from backends.python.gpu import NumbaCudaPeer
from backends.python.peer import NumbaPeer

BLOCK = 16  # queries per CPU thread and pass over the training rows


@numba.njit(fastmath={"reassoc", "nsz", "contract"})
def dot(x, y):
    total = x.dtype.type(0)
    for f in range(x.size):
        total += x[f] * y[f]
    return total


@numba.njit(inline="always")
def insert(keys, rows, key, row):
    """Inserts a row into lists sorted by key, after equal keys."""
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


class Parallel(neighbours.ArrayPeer, NumbaPeer):
    method = "parallel"
    description = "numba.prange over blocks of queries, k-best lists"
    dtypes = ("f32", "i32", "u8")

    def compute(self):
        train, test = self.packed()
        half = np.square(train).sum(axis=1) / 2
        found = np.zeros((len(test), self.k), np.int64)
        search(train, test, half, found)
        self.finish(found)


class Raw(NumbaCudaPeer):
    method = "raw"
    description = "Numba kernels: 16 x 16 tiles, k-best lists"
    dtypes = ("f32", "i32", "u8")

    def upload(self):
        names = ("train", "train_labels", "test")
        arrays = [self.inputs[name] for name in names]
        pixels = neighbours.are_pixels(arrays[0], arrays[2])
        self.shift = 128 if pixels else 0
        self.train, self.labels, self.test = map(cuda.to_device, arrays)
        k = int(self.parameters["k"])
        self.search = numba_kernels.search_of(k)
        self.rule = ("eps", "inverse", "uniform").index(self.parameters["votes"])
        self.packed = [
            (
                cuda.device_array(rows.shape, np.float32),
                cuda.device_array(len(rows), np.float32),
            )
            for rows in (self.train, self.test)
        ]
        queries = len(self.test)
        self.found = cuda.device_array((queries, k), np.int64)
        self.distances = cuda.device_array((queries, k), np.float64)
        self.winners = cuda.device_array(queries, np.int32)

    def reset(self):
        for array in (self.found, self.distances, self.winners):
            nothing = np.full(array.shape, -1).astype(array.dtype)
            array.copy_to_device(nothing)

    def compute(self):
        for rows, (values, half) in zip(
            (self.train, self.test), self.packed, strict=True
        ):
            blocks = -(-len(rows) // 64)
            numba_kernels.pack[blocks, 64](rows, self.shift, values, half)
        (train, half), (test, _) = self.packed
        tile = numba_kernels.TILE
        self.search[-(-len(test) // tile), (tile, tile)](train, test, half, self.found)
        rows = (self.train, self.labels, self.test, self.rule)
        results = (self.found, self.distances, self.winners)
        numba_kernels.finish[-(-len(test) // 64), 64](*rows, *results)

    def download(self):
        return {
            "labels": self.to_host(self.winners),
            "neighbours": self.to_host(self.found),
            "neighbour_distances": self.to_host(self.distances),
        }
