# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy: a product for the logits, one for the gradient. theta, biases last, is kept in double."""

import numpy as np

from algorithms.softmax_regression.peers.rows import task_of
from backends.python.peer import HostPeer


class Library(HostPeer):
    method = "library"
    description = "two numpy.matmul per step, numpy.exp between"
    dtypes = ("f32",)
    forms = (("theta", "product"),)

    def upload(self):
        self.task = task_of(self)
        self.theta = np.empty((self.task.rows.shape[1] + 1, self.task.classes))
        self.loss = np.empty(self.task.steps)

    def reset(self):
        self.theta.fill(np.nan)
        self.loss.fill(np.nan)

    def take(self, step):
        task, weights, biases = self.task, self.theta[:-1], self.theta[-1]
        part = task.part(step)
        x, labels = task.rows[part], task.labels[part]
        z = x @ (weights * task.scale).astype(np.float32) + biases.astype(np.float32)
        if self.trace:
            self.trace.end("forward")
        z -= z.max(axis=1, keepdims=True)
        of_label = (np.arange(len(z)), labels)
        loss = -z[of_label].mean(dtype=float)
        np.exp(z, out=z)
        sums = z.sum(axis=1, keepdims=True)
        loss += np.log(sums).mean(dtype=float)
        self.loss[step] = loss + task.l2 / 2 * np.square(weights).sum()
        if self.trace:
            self.trace.end("loss")
        z /= sums
        z[of_label] -= 1
        slopes, slope = x.T @ z, z.sum(axis=0)
        if self.trace:
            self.trace.end("backward")
        share = task.rate / len(z)
        weights *= 1 - task.rate * task.l2
        weights -= share * task.scale * slopes
        biases -= share * slope
        if self.trace:
            self.trace.end("update")

    def compute(self):
        self.theta.fill(0)
        for step in range(self.task.steps):
            self.take(step)

    def download(self):
        steps = np.array([self.loss.size])
        return {"theta": self.theta, "loss": self.loss, "steps": steps}
