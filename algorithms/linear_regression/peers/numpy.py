# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy: gradient descent by matrix-vector products; least squares in closed form, in double.

theta, bias last, is kept in double.
"""

import numpy as np

from algorithms.linear_regression.peers.rows import start_of, training_rows
from backends.python.peer import HostPeer


def training_data(peer):
    """Columns [features x rows] and targets [rows]."""
    rows = training_rows(peer.inputs["y"].size)
    return peer.inputs["x"][:, :rows].copy(), peer.inputs["y"][:rows].copy()


class Library(HostPeer):
    method = "library"
    description = "matrix-vector products"
    dtypes = ("f32", "f64")

    def upload(self):
        self.x, self.y = training_data(self)
        self.theta = np.empty(len(self.x) + 1)
        self.loss = np.empty(int(self.parameters["steps"]))

    def reset(self):
        self.theta.fill(np.nan)
        self.loss.fill(np.nan)

    def compute(self):
        self.theta[:] = start_of(self)
        rows = self.y.size
        share = float(self.parameters["learning_rate"]) / rows
        for step in range(self.loss.size):
            theta = self.theta.astype(self.y.dtype)
            error = theta[:-1] @ self.x
            error += theta[-1]
            error -= self.y
            if self.trace:
                self.trace.end("forward")
            self.loss[step] = error @ error / (2 * rows)
            if self.trace:
                self.trace.end("loss")
            slopes, slope = self.x @ error, error.sum()
            if self.trace:
                self.trace.end("backward")
            self.theta[:-1] -= share * slopes
            self.theta[-1] -= share * slope
            if self.trace:
                self.trace.end("update")

    def download(self):
        steps = np.array([self.loss.size])
        return {"theta": self.theta, "loss": self.loss, "steps": steps}


class NormalEquations(HostPeer):
    method = "normal_equations"
    description = "products in double, numpy.linalg.solve"
    dtypes = ("f32", "f64")
    problem = "normal_equations"

    def upload(self):
        self.x, self.y = training_data(self)
        self.theta = np.empty(len(self.x) + 1)

    def reset(self):
        self.theta.fill(np.nan)

    def compute(self):
        columns = np.ones((len(self.x) + 2, self.y.size))
        columns[:-2], columns[-1] = self.x, self.y  # features, 1, target
        products = columns[:-1] @ columns.T
        self.theta[:] = np.linalg.solve(products[:, :-1], products[:, -1])

    def download(self):
        return {"theta": self.theta}


class LeastSquares(NormalEquations):
    method = "lstsq"
    description = "numpy.linalg.lstsq in double: singular values instead of squares"
    dtypes = ("f32", "f64")
    problem = "normal_equations"

    def compute(self):
        columns = np.ones((self.y.size, len(self.x) + 1))
        columns[:, :-1] = self.x.T
        self.theta[:] = np.linalg.lstsq(columns, self.y.astype(float))[0]
