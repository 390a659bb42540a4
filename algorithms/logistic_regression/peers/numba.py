# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numba: parallel chunks of rows on the CPU; on the GPU a kernel for the sums and one for the step.

Each row is read once. Sums are in double; theta has its intercept first.
"""

import math

import numba
import numpy as np
from numba import cuda, float64

from backends.python.gpu import NumbaCudaPeer
from backends.python.numba_sums import THREADS, add_up
from backends.python.peer import NumbaPeer, Unsupported

CHUNK = 4096  # rows per CPU thread at a time: their logits stay in cache
BLOCKS = 1024  # maximum


@numba.njit(fastmath={"reassoc", "nsz", "contract"})
def add_chunk(x, y, theta, sums):
    """Sums of p - y, of (p - y) x_f, and of the loss."""
    features, one = x.shape[0], theta.dtype.type(1)
    z = np.full(y.size, theta[0])
    for f in range(features):
        weight = theta[f + 1]
        for i in range(y.size):
            z[i] += weight * x[f, i]
    loss = plain = 0.0
    for i in range(y.size):
        tail = np.exp(-abs(z[i]))
        loss += max(z[i], 0 * one) - y[i] * z[i] + np.log1p(tail)
        z[i] = (one if z[i] >= 0 else tail) / (one + tail) - y[i]
        plain += z[i]
    for f in range(features):
        total = 0.0
        for i in range(y.size):
            total += z[i] * x[f, i]
        sums[f + 1] = total
    sums[0], sums[features + 1] = plain, loss


@numba.njit(parallel=True)
def add_chunks(x, y, theta, sums):
    for chunk in numba.prange(len(sums)):
        part = slice(chunk * CHUNK, min((chunk + 1) * CHUNK, y.size))
        add_chunk(x[:, part], y[part], theta, sums[chunk])


@numba.njit
def solve(x, y, rate, l2, tolerance, theta, loss):
    features, rows = x.shape
    sums = np.empty(((rows + CHUNK - 1) // CHUNK, features + 2))
    for step in range(loss.size):
        add_chunks(x, y, theta.astype(x.dtype), sums)
        mean, largest = sums[:, features + 1].sum() / rows, 0.0
        for f in range(features + 1):
            gradient = sums[:, f].sum() / rows
            if f > 0:
                mean += l2 / 2 * theta[f] * theta[f]
                gradient += l2 * theta[f]
            theta[f] -= rate * gradient
            largest = max(largest, abs(gradient))
        loss[step:] = mean
        if largest < tolerance:
            return step + 1
    return loss.size


class Parallel(NumbaPeer):
    method = "parallel"
    description = "the whole solve compiled, a thread for each chunk of rows"
    dtypes = ("f32", "f64")

    def upload(self):
        self.x = self.inputs["columns"].copy()
        self.y = self.inputs["labels"].astype(self.x.dtype)
        self.theta = np.empty(len(self.x) + 1)
        self.loss = np.empty(int(self.parameters["steps"]))

    def reset(self):
        self.theta.fill(np.nan)
        self.loss.fill(np.nan)
        self.taken = -1

    def compute(self):
        names = ("learning_rate", "l2", "tolerance")
        rule = [float(self.parameters[name]) for name in names]
        self.theta.fill(0)
        self.taken = solve(self.x, self.y, *rule, self.theta, self.loss)

    def download(self):
        steps = np.array([self.taken])
        return {"theta": self.theta, "loss": self.loss, "steps": steps}


def kernel_of(features):
    """Grid-stride loop over the rows."""
    count = features + 2

    @cuda.jit
    def kernel(x, y, theta, totals):
        sums = cuda.local.array(count, float64)
        for s in range(count):
            sums[s] = 0.0
        for i in range(cuda.grid(1), y.size, cuda.gridsize(1)):
            z = theta[0]
            for f in range(features):
                z += theta[f + 1] * x[f, i]
            tail = math.exp(-abs(z))
            residual = (1.0 if z >= 0 else tail) / (1.0 + tail) - y[i]
            sums[0] += residual
            for f in range(features):
                sums[f + 1] += residual * x[f, i]
            sums[features + 1] += max(z, 0.0) - y[i] * z + math.log1p(tail)
        add_up(sums, totals)

    return kernel


@cuda.jit
def update(rows, rate, l2, theta, loss, taken, totals):
    """One block: takes the step, and zeroes the totals for the next one."""
    lane, features = cuda.threadIdx.x, theta.size - 1
    if lane == features + 1:
        penalty = 0.0
        for f in range(1, theta.size):
            penalty += l2 / 2 * theta[f] * theta[f]
        loss[taken[0]] = totals[lane] / rows + penalty
        taken[0] += 1
    cuda.syncthreads()
    if lane <= features:
        gradient = totals[lane] / rows
        if lane > 0:
            gradient += l2 * theta[lane]
        theta[lane] -= rate * gradient
    if lane < features + 2:
        totals[lane] = 0.0


class Raw(NumbaCudaPeer):
    method = "raw"
    description = "a kernel for the sums and one for the step, all in double"
    dtypes = ("f32", "f64")

    def upload(self):
        if float(self.parameters["tolerance"]):
            raise Unsupported("no stop test in this variant")
        self.x = self.to_device(self.inputs["columns"])
        self.y = self.to_device(self.inputs["labels"])
        features, self.rows = self.x.shape
        self.nothing = np.full(int(self.parameters["steps"]), np.nan)
        self.start = cuda.to_device(np.zeros(features + 1))
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
        rule = [float(self.parameters[name]) for name in ("learning_rate", "l2")]
        state = (self.theta, self.loss, self.taken, self.totals)
        for _ in range(self.nothing.size):
            self.kernel[self.blocks, THREADS](self.x, self.y, self.theta, self.totals)
            update[1, THREADS](self.rows, *rule, *state)

    def download(self):
        return {
            "theta": self.to_host(self.theta),
            "loss": self.to_host(self.loss),
            "steps": self.to_host(self.taken),
        }
