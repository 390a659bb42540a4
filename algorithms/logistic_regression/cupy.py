# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: a product, the loss and the excess in one fused kernel, a product. theta, intercept first, in double."""

import cupy

from backends.python.cupy_solve import CupySolve
from backends.python.peer import Unsupported

ROW = """
    const T t = exp(-abs(z));
    loss = max(z, (T)0) - y * z + log1p(t);
    excess = (z >= 0 ? 1 : t) / (1 + t) - y;
"""


class Library(CupySolve):
    method = "library"
    description = "matrix-vector products, an ElementwiseKernel between"
    dtypes = ("f32", "f64")
    forms = (("theta", "library"),)

    def upload(self):
        if float(self.parameters["tolerance"]):
            raise Unsupported("a stop test would wait for the GPU in each step")
        self.x = cupy.asarray(self.inputs["columns"])
        self.y = cupy.asarray(self.inputs["labels"]).astype(self.x.dtype)
        self.rate = float(self.parameters["learning_rate"])
        self.l2 = float(self.parameters["l2"])
        self.row = cupy.ElementwiseKernel("T z, T y", "T loss, T excess", ROW, "row")
        self.hold_state([0] * (len(self.x) + 1))

    def take(self, step):
        theta, weights = self.theta.astype(self.x.dtype), self.theta[1:]
        z = theta[1:] @ self.x
        z += theta[0]
        loss, excess = self.row(z, self.y)
        self.loss[step] = loss.mean(dtype=float) + self.l2 / 2 * (weights @ weights)
        share = self.rate / z.size
        self.theta[0] -= share * excess.sum()
        if self.l2:
            weights *= 1 - self.rate * self.l2
        weights -= share * (self.x @ excess)
        self.taken += 1
