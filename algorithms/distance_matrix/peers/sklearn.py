# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scikit-learn: euclidean_distances, the expanded form; floats are added in double, in blocks."""

from sklearn.metrics.pairwise import euclidean_distances

from backends.python.peer import HostPeer


class Library(HostPeer):
    method = "library"
    description = "euclidean_distances"
    dtypes = ("f32", "f64")
    forms = (("distances", "expanded"),)

    def upload(self):
        self.points = self.inputs["points"].copy()

    def reset(self):
        self.distances = None

    def compute(self):
        squared = self.parameters["metric"] == "squared"
        self.distances = euclidean_distances(self.points, squared=squared)

    def download(self):
        return {"distances": self.distances}
