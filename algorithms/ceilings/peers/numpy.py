# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy: bandwidth of its own passes over memory. One thread."""

import numpy as np

from backends.python.peer import HostPeer


class Copy(HostPeer):
    method = "copy"
    description = "numpy.copyto"
    dtypes = ("f32", "f64")
    problem = "copy"

    def upload(self):
        self.a = self.inputs["a"].copy()
        self.values = np.empty_like(self.a)

    def reset(self):
        self.values.fill(np.nan)

    def compute(self):
        np.copyto(self.values, self.a)

    def download(self):
        return {"values": self.values}


class Add(Copy):
    method = "add"
    description = "numpy.add into a separate array"
    dtypes = ("f32", "f64")
    problem = "add"

    def upload(self):
        super().upload()
        self.b = self.inputs["b"].copy()

    def compute(self):
        np.add(self.a, self.b, out=self.values)


class Read(HostPeer):
    method = "read"
    description = "numpy.sum of each chunk"
    dtypes = ("f32", "f64")
    problem = "read"

    def upload(self):
        self.a = self.inputs["a"].copy()
        self.sums = np.empty((len(self.a), 1), self.a.dtype)

    def reset(self):
        self.sums.fill(np.nan)

    def compute(self):
        np.sum(self.a, axis=1, keepdims=True, out=self.sums)

    def download(self):
        return {"sums": self.sums}
