# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: a product, loss and residual in one fused kernel, a product; likewise Newton steps.

theta, intercept first, is kept in double.
"""

import cupy

from algorithms.logistic_regression.peers.newton import NewtonSteps
from backends.python.cupy_solve import CupySolve
from backends.python.peer import Unsupported

ROW = """
    const T t = exp(-abs(z));
    loss = max(z, (T)0) - y * z + log1p(t);
    residual = (z >= 0 ? 1 : t) / (1 + t) - y;
"""
WEIGHT = "weight = t / ((1 + t) * (1 + t));"


class Library(CupySolve):
    method = "library"
    description = "matrix-vector products, an ElementwiseKernel between"
    dtypes = ("f32", "f64")
    forms = (("theta", "library"),)

    def upload(self):
        if float(self.parameters["tolerance"]):
            raise Unsupported("a stop test would wait for the GPU in each step")
        self.x = self.to_device(self.inputs["columns"])
        self.y = self.to_device(self.inputs["labels"]).astype(self.x.dtype)
        self.rate = float(self.parameters["learning_rate"])
        self.l2 = float(self.parameters["l2"])
        self.row = cupy.ElementwiseKernel("T z, T y", "T loss, T residual", ROW, "row")
        self.hold_state([0] * (len(self.x) + 1))

    def take(self, step):
        theta, weights = self.theta.astype(self.x.dtype), self.theta[1:]
        z = theta[1:] @ self.x
        z += theta[0]
        if self.trace:
            self.trace.end("forward")
        loss, residual = self.row(z, self.y)
        self.loss[step] = loss.mean(dtype=float) + self.l2 / 2 * (weights @ weights)
        if self.trace:
            self.trace.end("loss")
        slope, slopes = residual.sum(), self.x @ residual
        if self.trace:
            self.trace.end("backward")
        share = self.rate / z.size
        self.theta[0] -= share * slope
        if self.l2:
            weights *= 1 - self.rate * self.l2
        weights -= share * slopes
        self.taken += 1
        if self.trace:
            self.trace.end("update")


class Newton(NewtonSteps, CupySolve):
    method = "newton"
    description = "an ElementwiseKernel, a product in double, cupy.linalg.solve"

    def upload(self):
        self.x = self.to_device(self.inputs["columns"])
        self.y = self.to_device(self.inputs["labels"]).astype(float)
        n, rows = len(self.x) + 1, len(self.y)
        self.hold_state([0] * n)
        self.penalty = float(self.parameters["l2"]) * cupy.diag(cupy.arange(n) > 0)
        results = "T loss, T residual, T weight"
        self.row = cupy.ElementwiseKernel("T z, T y", results, ROW + WEIGHT, "row")
        self.columns, self.scaled = cupy.ones((n, rows)), cupy.empty((n + 1, rows))
        self.before, self.direction = cupy.empty((2, n))

    def begin(self):
        super().begin()
        self.columns[1:] = self.x

    def take(self, step=0):
        loss, residual, weight = self.row(self.theta @ self.columns, self.y)
        self.scaled[-1] = residual
        cupy.multiply(self.columns, weight, out=self.scaled[:-1])
        means = self.scaled @ self.columns.T / len(self.y)
        penalised = self.penalty @ self.theta
        self.hessian, self.gradient = means[:-1] + self.penalty, means[-1] + penalised
        total = loss.mean() + self.theta @ penalised / 2
        self.found = cupy.stack([total, abs(self.gradient).max()])

    def look(self):
        self.take()
        return tuple(self.found.tolist())

    def solve(self):
        return cupy.linalg.solve(self.hessian, -self.gradient)
