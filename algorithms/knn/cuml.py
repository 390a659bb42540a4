# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cuML: brute-force neighbours in f32, some more than vote; those nearest in double do.

Which of several training rows at the same distance it takes is left open there: with more of them at the
border than are asked for, the check may fail.
"""

import cupy
from cuml.neighbors import NearestNeighbors

from algorithms.knn import neighbours
from backends.python.gpu import CupyPeer

MORE = 5


class Library(CupyPeer):
    method = "library"
    description = "NearestNeighbors(algorithm='brute')"
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
        more = min(k + MORE, len(self.train))
        model = NearestNeighbors(
            n_neighbors=more, algorithm="brute", output_type="cupy"
        )
        model.fit(neighbours.packed(cupy, self.train, self.pixels))
        found = model.kneighbors(
            neighbours.packed(cupy, self.test, self.pixels), return_distance=False
        )
        rows = (self.train, self.labels, self.test)
        votes = self.parameters["votes"]
        self.results = neighbours.finish(cupy, *rows, found, k, votes)

    def download(self):
        return {name: cupy.asnumpy(value) for name, value in self.results.items()}
