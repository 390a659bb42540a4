# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: two matrix-vector products per step with the matrix of powers. theta is kept in double."""

import cupy

from backends.python.cupy_solve import CupySolve


class Library(CupySolve):
    method = "library"
    description = "per step two products with the matrix of powers"
    dtypes = ("f32", "f64")

    def upload(self):
        x, self.y = self.to_device(self.inputs["x"]), self.to_device(self.inputs["y"])
        self.powers = cupy.stack([x**p for p in range(4)])  # [4 x points]
        self.scale = 2 * float(self.parameters["learning_rate"])
        self.hold_state(self.inputs["start"])

    def take(self, step):
        error = self.theta.astype(self.y.dtype) @ self.powers - self.y
        self.loss[step] = error @ error
        self.theta -= self.scale * (self.powers @ error)
        self.taken += 1
