# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy: two matrix-vector products per step with the matrix of powers. theta is kept in double."""

import numpy as np

from backends.python.peer import HostPeer


class Library(HostPeer):
    method = "library"
    description = "per step two products with the matrix of powers"
    dtypes = ("f32", "f64")

    def upload(self):
        x, self.y = self.inputs["x"], self.inputs["y"].copy()
        self.powers = np.stack([x**p for p in range(4)])  # [4 x points]
        self.theta = np.empty(4)
        self.loss = np.empty(int(self.parameters["steps"]))

    def reset(self):
        self.theta.fill(np.nan)
        self.loss.fill(np.nan)

    def compute(self):
        scale = 2 * float(self.parameters["learning_rate"])
        self.theta[:] = self.inputs["start"]
        for step in range(self.loss.size):
            error = self.theta.astype(self.y.dtype) @ self.powers - self.y
            self.loss[step] = error @ error
            self.theta -= scale * (self.powers @ error)

    def download(self):
        steps = np.array([self.loss.size])
        return {"theta": self.theta, "loss": self.loss, "steps": steps}
