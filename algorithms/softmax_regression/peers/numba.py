# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numba: on the CPU NumPy's products, with parallel rows between them; on the GPU two kernels per step.

theta, biases last, is kept in double.
"""

import math

import numba
import numpy as np
from numba import cuda, float32, float64

from algorithms.softmax_regression.peers.rows import task_of
from backends.python.gpu import NumbaCudaPeer
from backends.python.numba_sums import THREADS, sum_of_block
from backends.python.peer import NumbaPeer


@numba.njit(parallel=True)
def residuals_of(z, labels, losses):
    """Logits to residuals, row by row."""
    for row in numba.prange(len(z)):
        values, largest, total = z[row], z[row, 0], float32(0)
        for value in values:
            largest = max(largest, value)
        of_label = values[labels[row]] - largest
        for c in range(values.size):
            values[c] = math.exp(values[c] - largest)
            total += values[c]
        losses[row] = math.log(total) - of_label
        for c in range(values.size):
            values[c] /= total
        values[labels[row]] -= float32(1)


class Parallel(NumbaPeer):
    method = "parallel"
    description = "two numpy.matmul per step, numba.prange over rows between"
    dtypes = ("f32",)
    forms = (("theta", "product"),)

    def upload(self):
        self.task = task_of(self)
        self.theta = np.empty((self.task.rows.shape[1] + 1, self.task.classes))
        self.loss = np.empty(self.task.steps)
        self.losses = np.empty(self.task.batch)

    def reset(self):
        self.theta.fill(np.nan)
        self.loss.fill(np.nan)

    def take(self, step):
        task, weights, biases = self.task, self.theta[:-1], self.theta[-1]
        part = task.part(step)
        x = task.rows[part]
        z = x @ (weights * task.scale).astype(np.float32) + biases.astype(np.float32)
        losses = self.losses[: len(x)]
        residuals_of(z, task.labels[part], losses)
        penalty = task.l2 / 2 * np.square(weights).sum()
        self.loss[step] = losses.mean() + penalty
        share = task.rate / len(x)
        weights *= 1 - task.rate * task.l2
        weights -= share * task.scale * (x.T @ z)
        biases -= share * z.sum(axis=0)

    def compute(self):
        self.theta.fill(0)
        for step in range(self.task.steps):
            self.take(step)

    def download(self):
        steps = np.array([self.loss.size])
        return {"theta": self.theta, "loss": self.loss, "steps": steps}


def kernels_of(classes):
    """Rows [features x rows]: neighbouring threads read neighbouring values."""

    @cuda.jit
    def residuals(x, labels, first, rows, scale, l2, theta, out, loss):
        """A thread takes a row. out [classes x rows]"""
        row = cuda.grid(1)
        features = x.shape[0]
        if row == 0 and l2 > 0.0:
            penalty = 0.0
            for f in range(features):
                for c in range(classes):
                    penalty += theta[f, c] * theta[f, c]
            cuda.atomic.add(loss, 0, l2 / 2 * penalty)
        if row >= rows:
            return
        z = cuda.local.array(classes, float32)
        for c in range(classes):
            z[c] = theta[features, c]
        for f in range(features):
            value = float32(x[f, first + row] * scale)
            for c in range(classes):
                z[c] += value * float32(theta[f, c])
        largest, total, label = z[0], float32(0), labels[first + row]
        for c in range(classes):
            largest = max(largest, z[c])
        of_label = z[label] - largest
        for c in range(classes):
            z[c] = math.exp(z[c] - largest)
            total += z[c]
        for c in range(classes):
            out[c, row] = z[c] / total - (float32(1) if c == label else float32(0))
        cuda.atomic.add(loss, 0, float64(math.log(total) - of_label) / rows)

    @cuda.jit
    def update(x, first, rows, scale, rate, l2, residual, theta):
        """A block takes a feature, the biases last: its gradient and its weights."""
        buffer = cuda.shared.array(THREADS, float64)
        sums = cuda.local.array(classes, float64)
        f, lane, features = cuda.blockIdx.x, cuda.threadIdx.x, x.shape[0]
        for c in range(classes):
            sums[c] = 0.0
        for row in range(lane, rows, THREADS):
            value = float64(1) if f == features else x[f, first + row] * scale
            for c in range(classes):
                sums[c] += value * residual[c, row]
        for c in range(classes):
            sum_of_block(buffer, sums[c])
            if lane == 0:
                shrink = 1.0 if f == features else 1.0 - rate * l2
                theta[f, c] = shrink * theta[f, c] - rate / rows * buffer[0]
            cuda.syncthreads()

    return residuals, update


class Raw(NumbaCudaPeer):
    method = "raw"
    description = "Numba kernels: one thread per row for the residuals, one block per feature for the step"
    dtypes = ("f32",)

    def upload(self):
        self.task = task = task_of(self)
        rows, features = task.rows.shape
        self.x = self.to_device(np.ascontiguousarray(task.rows.T))
        self.labels = self.to_device(task.labels)
        self.kernels = kernels_of(task.classes)
        shape = (features + 1, task.classes)
        self.theta = cuda.device_array(shape)
        self.residual = cuda.device_array((task.classes, rows), np.float32)
        self.loss = cuda.device_array(task.steps)
        self.zeros = [cuda.to_device(np.zeros(s)) for s in (shape, task.steps)]

    def reset(self):
        for state in (self.theta, self.loss):
            state.copy_to_device(np.full(state.shape, np.nan))

    def compute(self):
        task = self.task
        residuals, update = self.kernels
        self.theta.copy_to_device(self.zeros[0])
        self.loss.copy_to_device(self.zeros[1])
        for step in range(task.steps):
            part = task.part(step)
            rows = part.stop - part.start
            residuals[-(-rows // THREADS), THREADS](
                *(self.x, self.labels, part.start, rows, task.scale, task.l2),
                *(self.theta, self.residual, self.loss[step : step + 1]),
            )
            update[len(self.theta), THREADS](
                *(self.x, part.start, rows, task.scale, task.rate, task.l2),
                *(self.residual, self.theta),
            )

    def download(self):
        return {
            "theta": self.to_host(self.theta),
            "loss": self.to_host(self.loss),
            "steps": np.array([self.task.steps]),
        }
