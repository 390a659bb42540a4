# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scikit-learn: brute-force neighbours in f32 on all cores, one more than vote.

Which of several training rows at the border it takes is left open there: rows where the one beyond is as
near as the last are looked at again.
"""

import numpy as np
from sklearn.neighbors import NearestNeighbors

from algorithms.knn import neighbours
from backends.python.peer import HostPeer


class Library(neighbours.ArrayPeer, HostPeer):
    method = "library"
    description = "NearestNeighbors(algorithm='brute')"
    dtypes = ("f32", "i32", "u8")

    def compute(self):
        more = min(self.k + 1, len(self.train))
        model = NearestNeighbors(n_neighbors=more, algorithm="brute", n_jobs=-1)
        model.fit(self.train.astype(np.float32))
        distances, found = model.kneighbors(self.test.astype(np.float32))
        if more > self.k:
            ties = distances[:, self.k - 1] == distances[:, self.k]
            for row in np.flatnonzero(ties):
                squared = neighbours.squares(np, self.train, self.test[row])
                found[row] = np.argsort(squared, kind="stable")[:more]
        self.finish(found)
