# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy: a matrix product for a block of queries, argpartition, and the vote of those found."""

import numpy as np

from algorithms.knn import neighbours
from backends.python.peer import HostPeer


class Library(HostPeer):
    method = "library"
    description = "numpy.matmul, numpy.argpartition"
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
        block = max(1, neighbours.VALUES // 4 // len(train))
        found = np.empty((len(test), k), np.int64)
        for first in range(0, len(test), block):
            part = slice(first, first + block)
            keys = half - test[part] @ train.T
            found[part] = neighbours.nearest(np, keys, k, self.train, self.test[part])
        rows = (self.train, self.labels, self.test)
        votes = self.parameters["votes"]
        self.results = neighbours.finish(np, *rows, found, k, votes)

    def download(self):
        return self.results
