# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""cuML: LogisticRegression, until its loss is that of the descent."""

import cuml
import numpy as np

from algorithms.softmax_regression.peers.equal_loss import EqualLoss
from backends.python.gpu import CupyPeer


class Lbfgs(EqualLoss, CupyPeer):
    method = "lbfgs"

    def upload(self):
        self.rows = self.to_device(self.take_task())
        self.labels = self.to_device(self.task.labels)

    def make(self, iterations, inverse_penalty):
        penalty = {"penalty": "l2", "C": inverse_penalty}
        if np.isinf(inverse_penalty):
            penalty = {"penalty": None}
        limits = {"max_iter": iterations, "tol": 1e-12, "output_type": "numpy"}
        return cuml.LogisticRegression(**penalty, **limits)

    def fit(self):
        self.model.fit(self.rows, self.labels)
