# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: a matrix product for a block of queries, argpartition, and the vote of those found."""

import cupy
import numpy as np

from algorithms.knn.peers import neighbours
from backends.python.gpu import CupyPeer


class Library(neighbours.ArrayPeer, CupyPeer):
    method = "library"
    description = "cupy.matmul, cupy.argpartition (which sorts)"
    dtypes = ("f32", "i32", "u8")
    split = ("test", "test_labels")
    xp = cupy

    def compute(self):
        train, test = self.packed()
        half = cupy.square(train).sum(axis=1) / np.float32(2)
        block = max(1, neighbours.VALUES // len(train))
        found = cupy.empty((len(test), self.k), np.int64)
        for first in range(0, len(test), block):
            part = slice(first, first + block)
            keys = test[part] @ train.T
            cupy.subtract(half, keys, out=keys)
            found[part] = self.nearest(keys, part)
        self.finish(found)
