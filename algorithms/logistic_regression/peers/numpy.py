# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy: a product, the loss, a product, one pass each; Newton steps. theta, intercept first, is kept in double.

LogisticRegression of scikit-learn and cuML is not a peer: its solvers have their own stop rules and do
not report the loss of each step, so that this problem's bounds cannot be checked.
"""

import numpy as np

from algorithms.logistic_regression.peers.newton import NewtonSteps
from backends.python.peer import HostPeer


class Library(HostPeer):
    method = "library"
    description = "matrix-vector products, numpy.exp"
    dtypes = ("f32", "f64")
    forms = (("theta", "library"),)

    def upload(self):
        self.x = self.inputs["columns"].copy()
        self.y = self.inputs["labels"].astype(self.x.dtype)
        self.theta = np.empty(len(self.x) + 1)
        self.loss = np.empty(int(self.parameters["steps"]))
        self.taken = np.empty(1, np.int64)

    def reset(self):
        self.theta.fill(np.nan)
        self.loss.fill(np.nan)
        self.taken.fill(-1)

    def evaluate(self):
        """The loss at theta and its gradient."""
        theta = self.theta.astype(self.x.dtype)
        z = theta[1:] @ self.x
        z += theta[0]
        if self.trace:
            self.trace.end("forward")
        tail = np.exp(-np.abs(z))
        loss = np.maximum(z, 0) - self.y * z + np.log1p(tail)
        if self.trace:
            self.trace.end("loss")
        residual = np.where(z >= 0, 1, tail) / (1 + tail) - self.y
        gradient = np.append(residual.sum(), self.x @ residual).astype(float) / z.size
        l2, weights = float(self.parameters["l2"]), self.theta[1:]
        gradient[1:] += l2 * weights
        if self.trace:
            self.trace.end("backward")
        return loss.mean() + l2 / 2 * (weights @ weights), gradient

    def compute(self):
        rate, tolerance = (
            float(self.parameters[name]) for name in ("learning_rate", "tolerance")
        )
        self.theta.fill(0)
        for step in range(self.loss.size):
            loss, gradient = self.evaluate()
            self.loss[step:] = loss
            self.theta -= rate * gradient
            self.taken[:] = step + 1
            if self.trace:
                self.trace.end("update")
            if np.abs(gradient).max() < tolerance:
                break

    def download(self):
        return {"theta": self.theta, "loss": self.loss, "steps": self.taken}


class Newton(NewtonSteps, Library):
    method = "newton"
    description = "one product in double per step, numpy.linalg.solve"
    forms = ()

    def upload(self):
        super().upload()
        self.y = self.inputs["labels"].astype(float)
        n, rows = len(self.theta), len(self.y)
        self.penalty = float(self.parameters["l2"]) * np.diag(np.arange(n) > 0)
        self.columns, self.scaled = np.empty((n, rows)), np.empty((n + 1, rows))
        self.before, self.direction = np.empty(n), np.empty(n)

    def begin(self):
        self.theta.fill(0)
        self.columns[0], self.columns[1:] = 1, self.x

    def look(self):
        z = self.theta @ self.columns
        tail = np.exp(-np.abs(z))
        loss = (np.maximum(z, 0) - self.y * z + np.log1p(tail)).mean()
        likelier = 1 / (1 + tail)
        np.multiply(self.columns, tail * likelier**2, out=self.scaled[:-1])
        np.subtract(np.where(z >= 0, 1, tail) * likelier, self.y, out=self.scaled[-1])
        means = self.scaled @ self.columns.T / len(z)
        penalised = self.penalty @ self.theta
        self.hessian, self.gradient = means[:-1] + self.penalty, means[-1] + penalised
        return loss + self.theta @ penalised / 2, np.abs(self.gradient).max()

    def solve(self):
        try:
            return np.linalg.solve(self.hessian, -self.gradient)
        except np.linalg.LinAlgError:
            return np.nan
