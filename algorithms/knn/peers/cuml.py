# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cuML: brute-force neighbours in f32, some more than k; of these the k nearest in double vote.

It does not define which of several training rows at the same distance it returns: with more ties at the
k-th distance than the extra rows cover, the check may fail.
"""

import cupy
from cuml.neighbors import NearestNeighbors

from algorithms.knn.peers import neighbours
from backends.python.gpu import CupyPeer

MORE = 5


class Library(neighbours.ArrayPeer, CupyPeer):
    method = "library"
    description = "NearestNeighbors(algorithm='brute')"
    dtypes = ("f32", "i32", "u8")
    xp = cupy

    def compute(self):
        more = min(self.k + MORE, len(self.train))
        model = NearestNeighbors(
            n_neighbors=more, algorithm="brute", output_type="cupy"
        )
        train, test = self.packed()
        model.fit(train)
        found = model.kneighbors(test, return_distance=False)
        self.finish(found)
