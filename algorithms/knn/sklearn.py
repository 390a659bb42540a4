# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scikit-learn: brute-force neighbours in f32 on all cores, one more than k.

It does not define which of several training rows tied at the k-th distance it returns: queries whose (k +
1)-th is as near as the k-th are recomputed.
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
