# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numba: a parallel loop on the CPU, a kernel on the GPU."""

import numba
import numpy as np
from numba import cuda

from backends.python.gpu import NumbaCudaPeer
from backends.python.peer import NumbaPeer


@numba.njit(parallel=True)
def add(a, b, out):
    for i in numba.prange(a.size):
        out[i] = a[i] + b[i]


class Parallel(NumbaPeer):
    method = "parallel"
    description = "numba.prange over all threads"
    dtypes = ("f32", "f64", "i32")
    only = (("memory", "device"),)

    def upload(self):
        self.a, self.b = self.inputs["a"].copy(), self.inputs["b"].copy()
        self.sum = np.empty_like(self.a)

    def reset(self):
        self.sum.view(np.uint8).fill(0xFF)

    def compute(self):
        add(self.a, self.b, self.sum)

    def download(self):
        return {"sum": self.sum}


@cuda.jit
def add_kernel(a, b, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + b[i]


class Kernel(NumbaCudaPeer):
    method = "raw"
    description = "a Numba kernel, one element per thread"
    dtypes = ("f32", "f64", "i32")
    only = (("memory", "device"),)

    def upload(self):
        self.a = self.to_device(self.inputs["a"])
        self.b = self.to_device(self.inputs["b"])
        self.sum = cuda.device_array_like(self.a)

    def reset(self):
        self.sum.copy_to_device(
            np.full(self.sum.nbytes, 0xFF, np.uint8).view(self.sum.dtype)
        )

    def compute(self):
        size = self.sum.size
        if size:
            add_kernel[(size + 255) // 256, 256](self.a, self.b, self.sum)

    def download(self):
        return {"sum": self.to_host(self.sum)}
