# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numba: parallel chunks of rows on the CPU; on the GPU a kernel for the sums and one for the step.

Sums are in double. theta has its bias last.
"""

import numba
import numpy as np
from numba import cuda, float64

from algorithms.linear_regression.peers.rows import start_of, training_rows
from backends.python.gpu import NumbaCudaPeer
from backends.python.numba_sums import THREADS, add_up
from backends.python.peer import NumbaPeer

CHUNK = 8192  # rows of a thread at a time on the CPU: their errors stay in its cache
BLOCKS = 1024  # at most


@numba.njit(fastmath={"reassoc", "nsz", "contract"})
def add_chunk(x, y, theta, sums):
    """Sums of error x_f, of the error and of its square."""
    features = x.shape[0]
    error = np.empty(y.size, y.dtype)
    for i in range(y.size):
        error[i] = theta[features] - y[i]
    for f in range(features):
        weight = theta[f]
        for i in range(y.size):
            error[i] += weight * x[f, i]
    for f in range(features):
        total = 0.0
        for i in range(y.size):
            total += error[i] * x[f, i]
        sums[f] = total
    plain = squares = 0.0
    for i in range(y.size):
        plain += error[i]
        squares += error[i] * error[i]
    sums[features], sums[features + 1] = plain, squares


@numba.njit(parallel=True)
def add_chunks(x, y, theta, sums):
    for chunk in numba.prange(len(sums)):
        part = slice(chunk * CHUNK, min((chunk + 1) * CHUNK, y.size))
        add_chunk(x[:, part], y[part], theta, sums[chunk])


@numba.njit
def solve(x, y, rate, theta, loss):
    features, rows = x.shape
    sums = np.empty(((rows + CHUNK - 1) // CHUNK, features + 2))
    for step in range(loss.size):
        add_chunks(x, y, theta.astype(y.dtype), sums)
        for f in range(features + 1):
            theta[f] -= rate / rows * sums[:, f].sum()
        loss[step] = sums[:, features + 1].sum() / (2 * rows)


class Parallel(NumbaPeer):
    method = "parallel"
    description = "the whole solve compiled, a thread for each chunk of rows"
    dtypes = ("f32", "f64")

    def upload(self):
        rows = training_rows(self.inputs["y"].size)
        self.x = self.inputs["x"][:, :rows].copy()
        self.y = self.inputs["y"][:rows].copy()
        self.theta = np.empty(len(self.x) + 1)
        self.loss = np.empty(int(self.parameters["steps"]))

    def reset(self):
        self.theta.fill(np.nan)
        self.loss.fill(np.nan)

    def compute(self):
        self.theta[:] = start_of(self)
        rate = float(self.parameters["learning_rate"])
        solve(self.x, self.y, rate, self.theta, self.loss)

    def download(self):
        steps = np.array([self.loss.size])
        return {"theta": self.theta, "loss": self.loss, "steps": steps}


def kernel_of(features):
    """A thread takes every so-many-th row."""
    count = features + 2

    @cuda.jit
    def kernel(x, y, rows, theta, totals):
        sums = cuda.local.array(count, float64)
        for s in range(count):
            sums[s] = 0.0
        for i in range(cuda.grid(1), rows, cuda.gridsize(1)):
            error = theta[features] - y[i]
            for f in range(features):
                error += theta[f] * x[f, i]
            for f in range(features):
                sums[f] += error * x[f, i]
            sums[features] += error
            sums[features + 1] += error * error
        add_up(sums, totals)

    return kernel


@cuda.jit
def update(rows, rate, theta, loss, taken, totals):
    """One block: the step, and the totals at 0 for the next."""
    lane, features = cuda.threadIdx.x, theta.size - 1
    if lane <= features:
        theta[lane] -= rate / rows * totals[lane]
    if lane == features + 1:
        loss[taken[0]] = totals[lane] / (2 * rows)
        taken[0] += 1
    if lane < features + 2:
        totals[lane] = 0.0


class Raw(NumbaCudaPeer):
    method = "raw"
    description = "a kernel for the sums and one for the step, all in double"
    dtypes = ("f32", "f64")

    def upload(self):
        self.x = self.to_device(self.inputs["x"])
        self.y = self.to_device(self.inputs["y"])
        self.start = cuda.to_device(start_of(self))
        features, self.rows = len(self.x), training_rows(self.y.size)
        self.nothing = np.full(int(self.parameters["steps"]), np.nan)
        self.none = cuda.to_device(np.zeros(1, np.int64))
        self.theta = cuda.device_array(features + 1)
        self.loss = cuda.to_device(self.nothing)
        self.taken = cuda.device_array(1, np.int64)
        self.totals = cuda.to_device(np.zeros(features + 2))
        self.kernel = kernel_of(features)
        self.blocks = min(BLOCKS, -(-self.rows // THREADS))

    def reset(self):
        self.loss.copy_to_device(self.nothing)
        self.theta.copy_to_device(np.full(len(self.theta), np.nan))
        self.taken.copy_to_device(np.array([-1]))

    def compute(self):
        self.theta.copy_to_device(self.start)
        self.taken.copy_to_device(self.none)
        rate = float(self.parameters["learning_rate"])
        for _ in range(self.nothing.size):
            self.kernel[self.blocks, THREADS](
                self.x, self.y, self.rows, self.theta, self.totals
            )
            update[1, THREADS](
                self.rows, rate, self.theta, self.loss, self.taken, self.totals
            )

    def download(self):
        return {
            "theta": self.to_host(self.theta),
            "loss": self.to_host(self.loss),
            "steps": self.to_host(self.taken),
        }
