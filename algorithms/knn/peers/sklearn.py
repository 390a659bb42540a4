# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scikit-learn: brute-force neighbours in f32 on all cores, one more than k.

It does not define which of several training rows tied at the k-th distance it returns: queries whose (k +
1)-th is as near as the k-th get more neighbours, ordered by exact distance and index; those still tied, all.
"""

import numpy as np
from sklearn.neighbors import NearestNeighbors

from algorithms.knn.peers import neighbours
from backends.python.peer import HostPeer

MORE = 32  # neighbours of a query whose k-th is tied


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
            tied = np.flatnonzero(distances[:, self.k - 1] == distances[:, self.k])
            if len(tied):
                found[tied] = self.nearest_of(model, self.test[tied], more)
        self.finish(found)

    def nearest_of(self, model, test, count):
        """The `count` nearest rows of each of these queries by (exact distance, index)."""
        many = min(count + MORE, len(self.train))
        distances, found = model.kneighbors(test.astype(np.float32), many)
        in_order = neighbours.in_order(np, self.train, test, found, count)
        nearest = np.concatenate([part for part, _ in in_order])
        if many < len(self.train):
            for row in np.flatnonzero(distances[:, count - 1] == distances[:, -1]):
                squared = neighbours.squares(np, self.train, test[row])
                nearest[row] = np.argsort(squared, kind="stable")[:count]
        return nearest
