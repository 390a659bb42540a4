# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scikit-learn: LinearRegression, least squares in closed form.

Its SGDRegressor takes one row at a time in a random order: another computation than full-batch descent.
"""

import numpy as np
from sklearn.linear_model import LinearRegression

from algorithms.linear_regression.peers.rows import training_rows
from backends.python.peer import HostPeer


class Library(HostPeer):
    method = "lstsq"
    description = "LinearRegression in double"
    dtypes = ("f32", "f64")
    problem = "normal_equations"

    def upload(self):
        rows = training_rows(self.inputs["y"].size)
        self.rows = np.ascontiguousarray(self.inputs["x"][:, :rows].T)
        self.targets = self.inputs["y"][:rows].copy()

    def reset(self):
        self.model = LinearRegression(copy_X=False)

    def compute(self):
        self.model.fit(self.rows.astype(float), self.targets.astype(float))

    def download(self):
        return {"theta": np.append(self.model.coef_, self.model.intercept_)}
