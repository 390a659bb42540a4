# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: bandwidth of its own passes over memory."""

import cupy

from backends.python.gpu import CupyPeer


class Copy(CupyPeer):
    method = "copy"
    description = "cupy.copyto"
    dtypes = ("f32", "f64")
    problem = "copy"

    def upload(self):
        self.a = self.to_device(self.inputs["a"])
        self.values = cupy.empty_like(self.a)

    def reset(self):
        self.values.fill(cupy.nan)

    def compute(self):
        cupy.copyto(self.values, self.a)

    def download(self):
        return {"values": self.to_host(self.values)}


class Add(Copy):
    method = "add"
    description = "cupy.add into a separate array"
    dtypes = ("f32", "f64")
    problem = "add"

    def upload(self):
        super().upload()
        self.b = self.to_device(self.inputs["b"])

    def compute(self):
        cupy.add(self.a, self.b, out=self.values)


class Read(CupyPeer):
    method = "read"
    description = "cupy.sum of each chunk"
    dtypes = ("f32", "f64")
    problem = "read"

    def upload(self):
        self.a = self.to_device(self.inputs["a"])
        self.sums = cupy.empty((len(self.a), 1), self.a.dtype)

    def reset(self):
        self.sums.fill(cupy.nan)

    def compute(self):
        cupy.sum(self.a, axis=1, keepdims=True, out=self.sums)

    def download(self):
        return {"sums": self.to_host(self.sums)}
