# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scikit-learn: LogisticRegression, until its loss is that of the descent."""

from sklearn.linear_model import LogisticRegression

from algorithms.softmax_regression.peers.equal_loss import EqualLoss
from backends.python.peer import HostPeer


class Lbfgs(EqualLoss, HostPeer):
    method = "lbfgs"

    def upload(self):
        self.rows = self.take_task()

    def make(self, iterations, inverse_penalty):
        return LogisticRegression(C=inverse_penalty, max_iter=iterations, tol=1e-12)

    def fit(self):
        self.model.fit(self.rows, self.task.labels)
