# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: a product for the logits, one for the gradient. theta, biases last, is kept in double."""

import cupy

from algorithms.softmax_regression.peers.rows import task_of
from backends.python.cupy_solve import CupySolve


class Library(CupySolve):
    method = "library"
    description = "two cupy.matmul per step, cupy.exp between"
    dtypes = ("f32",)
    forms = (("theta", "product"),)

    def upload(self):
        self.task = task = task_of(self)
        self.rows, self.labels = self.to_device(task.rows), self.to_device(task.labels)
        self.right = cupy.eye(task.classes, dtype="f4")[self.labels]
        self.hold_state(cupy.zeros((self.rows.shape[1] + 1, task.classes)))

    def take(self, step):
        task, weights, biases = self.task, self.theta[:-1], self.theta[-1]
        part = task.part(step)
        x, right = self.rows[part], self.right[part]
        z = x @ (weights * task.scale).astype("f4") + biases.astype("f4")
        if self.trace:
            self.trace.end("forward")
        z -= z.max(axis=1, keepdims=True)
        of_label = (z * right).sum(axis=1)
        z = cupy.exp(z)
        sums = z.sum(axis=1, keepdims=True)
        loss = (cupy.log(sums[:, 0]) - of_label).mean(dtype=float)
        self.loss[step] = loss + task.l2 / 2 * cupy.square(weights).sum()
        if self.trace:
            self.trace.end("loss")
        residuals = z / sums - right
        slopes, slope = x.T @ residuals, residuals.sum(axis=0)
        if self.trace:
            self.trace.end("backward")
        share = task.rate / len(z)
        weights *= 1 - task.rate * task.l2
        weights -= share * task.scale * slopes
        biases -= share * slope
        self.taken += 1
        if self.trace:
            self.trace.end("update")
