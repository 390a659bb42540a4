# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: gradient descent by matrix-vector products; the normal equations. theta, bias last, in double."""

import cupy

from algorithms.linear_regression.peers.rows import start_of, training_rows
from backends.python.cupy_solve import CupySolve
from backends.python.gpu import CupyPeer


def training_data(peer):
    """Columns [features x rows] and targets [rows], on the GPU."""
    rows = training_rows(peer.inputs["y"].size)
    x, y = peer.to_device(peer.inputs["x"]), peer.to_device(peer.inputs["y"])
    return x[:, :rows].copy(), y[:rows]


class Library(CupySolve):
    method = "library"
    description = "matrix-vector products"
    dtypes = ("f32", "f64")

    def upload(self):
        self.x, self.y = training_data(self)
        self.rate = float(self.parameters["learning_rate"])
        self.hold_state(start_of(self))

    def take(self, step):
        theta, rows = self.theta.astype(self.y.dtype), self.y.size
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
        self.theta[:-1] -= self.rate / rows * slopes
        self.theta[-1] -= self.rate / rows * slope
        self.taken += 1
        if self.trace:
            self.trace.end("update")


class NormalEquations(CupyPeer):
    method = "normal_equations"
    description = "products in double, cupy.linalg.solve"
    dtypes = ("f32", "f64")
    problem = "normal_equations"

    def upload(self):
        self.x, self.y = training_data(self)
        self.theta = cupy.empty(len(self.x) + 1)

    def reset(self):
        self.theta.fill(cupy.nan)

    def compute(self):
        columns = cupy.ones((len(self.x) + 2, self.y.size))
        columns[:-2], columns[-1] = self.x, self.y  # features, 1, target
        products = columns[:-1] @ columns.T
        self.theta[...] = cupy.linalg.solve(products[:, :-1], products[:, -1])

    def download(self):
        return {"theta": self.to_host(self.theta)}
