# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: a matrix product for a block of queries, argpartition, and the vote of those found."""

import cupy
import numpy as np

from algorithms.knn import neighbours
from backends.python.gpu import CupyPeer


class Library(CupyPeer):
    method = "library"
    description = "cupy.matmul, cupy.argpartition (which sorts)"
    dtypes = ("f32", "i32", "u8")

    def upload(self):
        names = ("train", "train_labels", "test")
        rows = [self.inputs[n] for n in names]
        self.pixels = neighbours.are_pixels(rows[0], rows[2])
        self.train, self.labels, self.test = (cupy.asarray(r) for r in rows)

    def reset(self):
        self.results = {}

    def compute(self):
        k = int(self.parameters["k"])
        train = neighbours.packed(cupy, self.train, self.pixels)
        test = neighbours.packed(cupy, self.test, self.pixels)
        half = cupy.square(train).sum(axis=1) / np.float32(2)
        block = max(1, neighbours.VALUES // len(train))
        found = cupy.empty((len(test), k), np.int64)
        for first in range(0, len(test), block):
            part = slice(first, first + block)
            keys = test[part] @ train.T
            cupy.subtract(half, keys, out=keys)
            found[part] = neighbours.nearest(cupy, keys, k, self.train, self.test[part])
        rows = (self.train, self.labels, self.test)
        votes = self.parameters["votes"]
        self.results = neighbours.finish(cupy, *rows, found, k, votes)

    def download(self):
        return {name: cupy.asnumpy(value) for name, value in self.results.items()}
