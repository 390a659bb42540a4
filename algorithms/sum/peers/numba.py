# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numba: parallel chunks on the CPU, blocks with an atomic add each on the GPU."""

import numba
import numpy as np
from numba import cuda, float64, int64

from backends.python.gpu import NumbaCudaPeer
from backends.python.numba_sums import THREADS, sum_of_block
from backends.python.peer import NumbaPeer

CHUNK = 1 << 16
BLOCKS = 2048  # maximum


@numba.njit(parallel=True, fastmath={"reassoc", "nsz"})  # vectorised
def add_up(x, partials):
    for chunk in numba.prange(partials.size):
        total = partials.dtype.type(0)
        for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, x.size)):
            total += x[i]
        partials[chunk] = total


class Parallel(NumbaPeer):
    method = "parallel"
    description = "numba.prange over chunks, then their sums"
    dtypes = ("f32", "f64", "i32")
    forms = (("sum", "any order"),)

    def upload(self):
        self.x = self.inputs["x"].copy()
        whole = self.parameters["dtype"] == "i32"
        chunks = max(1, -(-self.x.size // CHUNK))
        self.partials = np.empty(chunks, np.int64 if whole else np.float64)
        self.total = np.empty(1, self.partials.dtype)

    def reset(self):
        self.total.view(np.uint8).fill(0xFF)

    def compute(self):
        add_up(self.x, self.partials)
        self.total[0] = self.partials.sum()

    def download(self):
        return {"sum": self.total}


def kernel_of(total_type):
    """Grid-stride loop, then a sum over the block, then an atomic add to `total`."""

    @cuda.jit
    def kernel(x, total):
        sums = cuda.shared.array(THREADS, total_type)
        lane = cuda.threadIdx.x
        mine = total_type(0)
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            mine += x[i]
        sum_of_block(sums, mine)
        if lane == 0:
            cuda.atomic.add(total, 0, sums[0])

    return kernel


class Raw(NumbaCudaPeer):
    method = "raw"
    description = "a Numba kernel: one sum per block, added to one value by atomics"
    dtypes = ("f32", "f64", "i32")
    forms = (("sum", "any order"),)

    def upload(self):
        self.x = self.to_device(self.inputs["x"])
        whole = self.parameters["dtype"] == "i32"
        self.total = cuda.to_device(np.zeros(1, np.int64 if whole else np.float64))
        self.zero = cuda.to_device(np.zeros(1, self.total.dtype))
        self.kernel = kernel_of(int64 if whole else float64)
        self.blocks = min(BLOCKS, -(-self.x.size // THREADS))

    def reset(self):
        self.total.copy_to_device(np.full(8, 0xFF, np.uint8).view(self.total.dtype))

    def compute(self):
        self.total.copy_to_device(self.zero)
        if self.blocks:
            self.kernel[self.blocks, THREADS](self.x, self.total)

    def download(self):
        return {"sum": self.to_host(self.total)}
