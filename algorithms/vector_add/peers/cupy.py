# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: NumPy's interface on a GPU."""

import cupy

from backends.python.gpu import CupyPeer


class Add(CupyPeer):
    method = "library"
    description = "cupy.add into a separate array"
    dtypes = ("f32", "f64", "i32")
    only = (("memory", "device"),)

    def upload(self):
        self.a, self.b = (
            self.to_device(self.inputs["a"]),
            self.to_device(self.inputs["b"]),
        )
        self.sum = cupy.empty_like(self.a)

    def reset(self):
        self.sum.view(cupy.uint8).fill(0xFF)

    def compute(self):
        cupy.add(self.a, self.b, out=self.sum)

    def download(self):
        return {"sum": self.to_host(self.sum)}
