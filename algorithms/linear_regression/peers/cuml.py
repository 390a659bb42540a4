# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cuML: LinearRegression, least squares in closed form, in double."""

import cuml
import cupy
import numpy as np

from algorithms.linear_regression.peers.rows import training_rows
from backends.python.gpu import CupyPeer


class Library(CupyPeer):
    method = "normal_equations"
    description = "LinearRegression in double, by eigenvalues"
    dtypes = ("f32", "f64")
    problem = "normal_equations"

    def upload(self):
        rows = training_rows(self.inputs["y"].size)
        self.columns = self.to_device(self.inputs["x"])[:, :rows]
        self.targets = self.to_device(self.inputs["y"])[:rows]

    def reset(self):
        self.model = cuml.LinearRegression(algorithm="eig", output_type="numpy")

    def compute(self):
        rows = self.columns.astype(cupy.float64).T  # columns one after another
        self.model.fit(rows, self.targets.astype(cupy.float64))

    def download(self):
        return {"theta": np.append(self.model.coef_, self.model.intercept_)}
