# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy: its own pairwise sum, converted to double (64-bit integers) one buffer at a time. One thread."""

import numpy as np

from backends.python.peer import HostPeer

TOTALS = {"f32": np.float64, "f64": np.float64, "i32": np.int64}


class Library(HostPeer):
    method = "library"
    description = "numpy.sum in double, or 64-bit integers"
    dtypes = ("f32", "f64", "i32")
    forms = (("sum", "any order"),)

    def upload(self):
        self.x = self.inputs["x"].copy()
        self.total = np.empty(1, TOTALS[self.parameters["dtype"]])

    def reset(self):
        self.total.view(np.uint8).fill(0xFF)

    def compute(self):
        np.sum(self.x, dtype=self.total.dtype, keepdims=True, out=self.total)

    def download(self):
        return {"sum": self.total}
