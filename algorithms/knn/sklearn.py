# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scikit-learn: brute-force neighbours in f32 on all cores, one more than vote.

Which of several training rows at the border it takes is left open there: rows where the one beyond is as
near as the last are looked at again.
"""

import numpy as np
from sklearn.neighbors import NearestNeighbors

from algorithms.knn import neighbours
from backends.python.peer import HostPeer


class Library(HostPeer):
    method = "library"
    description = "NearestNeighbors(algorithm='brute')"
    dtypes = ("f32", "i32", "u8")

    def upload(self):
        names = ("train", "train_labels", "test")
        self.train, self.labels, self.test = (self.inputs[n].copy() for n in names)

    def reset(self):
        self.results = None

    def compute(self):
        k = int(self.parameters["k"])
        more = min(k + 1, len(self.train))
        model = NearestNeighbors(n_neighbors=more, algorithm="brute", n_jobs=-1)
        model.fit(self.train.astype(np.float32))
        distances, found = model.kneighbors(self.test.astype(np.float32))
        if more > k:
            ties = distances[:, k - 1] == distances[:, k]
            for row in np.flatnonzero(ties):
                squared = neighbours.squares(np, self.train, self.test[row])
                found[row] = np.argsort(squared, kind="stable")[:more]
        rows = (self.train, self.labels, self.test)
        votes = self.parameters["votes"]
        self.results = neighbours.finish(np, *rows, found, k, votes)

    def download(self):
        return self.results
