# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numba: the whole solve in one function on the CPU, and in one block on the GPU."""

import numba
import numpy as np
from numba import cuda, float64

from backends.python.gpu import NumbaCudaPeer
from backends.python.peer import NumbaPeer

CHUNK = 4096  # points of a thread on the CPU: a solve of fewer has one
THREADS = 512  # of the block on the GPU


@numba.njit(fastmath={"reassoc", "nsz", "contract"})
def sums_of(x, y, theta, sums):
    """Sums of error x^p, p = 0 .. 3, and of the error's square."""
    a, b, c, d = theta
    s0 = s1 = s2 = s3 = s4 = 0.0
    for i in range(x.size):
        square = x[i] * x[i]
        error = a + b * x[i] + c * square + d * (square * x[i]) - y[i]
        s0 += error
        s1 += error * x[i]
        s2 += error * square
        s3 += error * (square * x[i])
        s4 += error * error
    sums[0], sums[1], sums[2], sums[3], sums[4] = s0, s1, s2, s3, s4


@numba.njit(parallel=True)
def sums_of_chunks(x, y, theta, sums):
    for chunk in numba.prange(len(sums)):
        part = slice(chunk * CHUNK, min((chunk + 1) * CHUNK, x.size))
        sums_of(x[part], y[part], theta, sums[chunk])


@numba.njit
def solve(x, y, scale, theta, loss):
    sums = np.empty(((x.size + CHUNK - 1) // CHUNK, 5))
    for step in range(loss.size):
        if len(sums) == 1:
            sums_of(x, y, theta, sums[0])
        else:
            sums_of_chunks(x, y, theta, sums)
        for p in range(4):
            theta[p] -= scale * sums[:, p].sum()
        loss[step] = sums[:, 4].sum()


class Parallel(NumbaPeer):
    method = "parallel"
    description = (
        "the whole solve compiled, all sums in double; a thread for 4,096 points"
    )
    dtypes = ("f32", "f64")

    def upload(self):
        self.x, self.y = self.inputs["x"].copy(), self.inputs["y"].copy()
        self.theta = np.empty(4)
        self.loss = np.empty(int(self.parameters["steps"]))

    def reset(self):
        self.theta.fill(np.nan)
        self.loss.fill(np.nan)

    def compute(self):
        self.theta[:] = self.inputs["start"]
        scale = 2 * float(self.parameters["learning_rate"])
        solve(self.x, self.y, scale, self.theta, self.loss)

    def download(self):
        steps = np.array([self.loss.size])
        return {"theta": self.theta, "loss": self.loss, "steps": steps}


@cuda.jit
def solve_kernel(x, y, start, scale, theta, loss):
    """One block; each thread keeps its own theta, and all are the same."""
    sums = cuda.shared.array((5, THREADS), float64)
    lane = cuda.threadIdx.x
    a, b, c, d = start[0], start[1], start[2], start[3]
    for step in range(loss.size):
        for s in range(5):
            sums[s, lane] = 0.0
        for i in range(lane, x.size, THREADS):
            square = x[i] * x[i]
            cube = square * x[i]
            error = a + b * x[i] + c * square + d * cube - y[i]
            sums[0, lane] += error
            sums[1, lane] += error * x[i]
            sums[2, lane] += error * square
            sums[3, lane] += error * cube
            sums[4, lane] += error * error
        cuda.syncthreads()
        half = THREADS // 2
        while half > 0:
            if lane < half:
                for s in range(5):
                    sums[s, lane] += sums[s, lane + half]
            cuda.syncthreads()
            half //= 2
        a -= scale * sums[0, 0]
        b -= scale * sums[1, 0]
        c -= scale * sums[2, 0]
        d -= scale * sums[3, 0]
        if lane == 0:
            loss[step] = sums[4, 0]
        cuda.syncthreads()
    if lane == 0:
        theta[0], theta[1], theta[2], theta[3] = a, b, c, d


class Raw(NumbaCudaPeer):
    method = "raw"
    description = "one kernel of one block for the whole solve, sums in double"
    dtypes = ("f32", "f64")

    def upload(self):
        self.x, self.y, self.start = (
            self.to_device(self.inputs[name]) for name in ("x", "y", "start")
        )
        self.nothing = np.full(int(self.parameters["steps"]), np.nan)
        self.theta = cuda.to_device(self.nothing[:1].repeat(4))
        self.loss = cuda.to_device(self.nothing)

    def reset(self):
        self.theta.copy_to_device(self.nothing[:1].repeat(4))
        self.loss.copy_to_device(self.nothing)

    def compute(self):
        scale = 2 * float(self.parameters["learning_rate"])
        solve_kernel[1, THREADS](
            self.x, self.y, self.start, scale, self.theta, self.loss
        )

    def download(self):
        return {
            "theta": self.to_host(self.theta),
            "loss": self.to_host(self.loss),
            "steps": np.array([self.nothing.size]),
        }
