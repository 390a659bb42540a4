# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: its own sum, whose kernel converts what it reads."""

import cupy

from backends.python.gpu import CupyPeer


class Library(CupyPeer):
    method = "library"
    description = "cupy.sum in double, or 64-bit integers"
    dtypes = ("f32", "f64", "i32")
    forms = (("sum", "any order"),)

    def upload(self):
        self.x = self.to_device(self.inputs["x"])
        whole = self.parameters["dtype"] == "i32"
        self.total = cupy.empty(1, cupy.int64 if whole else cupy.float64)

    def reset(self):
        self.total.view(cupy.uint8).fill(0xFF)

    def compute(self):
        cupy.sum(self.x, dtype=self.total.dtype, keepdims=True, out=self.total)

    def download(self):
        return {"sum": self.to_host(self.total)}
