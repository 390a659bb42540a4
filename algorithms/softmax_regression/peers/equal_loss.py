# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time to equal loss: a library's LogisticRegression, stopped at the loss that the descent ends with."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np

from algorithms.softmax_regression.peers.rows import Task, task_of
from backends.python.peer import Unsupported

MOST_ITERATIONS = 4096


def loss_of(task: Task, theta: np.ndarray) -> tuple[float, np.ndarray]:
    """The mean loss over all rows with its penalty, and the residuals p - y [rows x classes]."""
    weights, biases = theta[:-1], theta[-1]
    z = task.rows @ (weights * task.scale).astype(np.float32)
    z = z.astype(float) + biases
    z -= z.max(axis=1, keepdims=True)
    of_label = (np.arange(len(z)), task.labels)
    loss = -z[of_label].mean()
    np.exp(z, out=z)
    sums = z.sum(axis=1, keepdims=True)
    loss += np.log(sums).mean() + task.l2 / 2 * np.square(weights).sum()
    z /= sums
    z[of_label] -= 1
    return float(loss), z


def loss_of_descent(task: Task) -> float:
    """After the last step."""
    theta = np.zeros((task.rows.shape[1] + 1, task.classes))
    for _ in range(task.steps):
        _, residuals = loss_of(task, theta)
        slopes = task.rows.T @ residuals.astype(np.float32)
        share = task.rate / len(residuals)
        theta[:-1] *= 1 - task.rate * task.l2
        theta[:-1] -= share * task.scale * slopes
        theta[-1] -= share * residuals.sum(axis=0)
    return loss_of(task, theta)[0]


class EqualLoss:
    """Mixin of a peer; `iterations` is the smallest number with which its fit reaches the loss of the descent."""

    description = "LogisticRegression (L-BFGS) to the loss of the descent"
    dtypes = ("f32",)
    forms = (("theta", "equal_loss"),)
    task: Task
    model: Any

    @abstractmethod
    def make(self, iterations: int, inverse_penalty: float) -> Any:
        """The library's model; C = `inverse_penalty`, the sum of losses being multiplied by it."""

    @abstractmethod
    def fit(self) -> None:
        """Fits `self.model` to all rows, scaled."""

    def take_task(self) -> np.ndarray:
        """Reads the problem. Returns the rows, scaled, f32 [rows x features]. Raises Unsupported."""
        self.task = task = task_of(self)
        if task.batches > 1:
            raise Unsupported("takes all rows in every iteration: batch = 0 only")
        if len(np.unique(task.labels)) < task.classes:
            raise Unsupported("learns only the classes that have a training row")
        return task.rows * np.float32(task.scale)

    def reset(self) -> None:
        """A model that has not been fitted. The first time, finds the number of iterations."""
        if not hasattr(self, "iterations"):
            self.iterations = self.search()
        self.model = self.new(self.iterations)

    def new(self, iterations: int) -> Any:
        # Two classes have one vector of weights w, here -w / 2 and w / 2: half of the penalty.
        strength = self.task.l2 / (2 if self.task.classes == 2 else 1)
        rows = len(self.task.labels)
        return self.make(iterations, 1 / (strength * rows) if strength else np.inf)

    def search(self) -> int:
        """By doubling, then by halving the interval; the loss falls with every iteration."""
        target = loss_of_descent(self.task)
        low, high = 0, 1
        while not self.reaches(target, high):
            if high == MOST_ITERATIONS:
                reason = f"does not reach the loss {target} in {high} iterations"
                raise Unsupported(reason)
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            if self.reaches(target, middle):
                high = middle
            else:
                low = middle
        return high

    def reaches(self, target: float, iterations: int) -> bool:
        self.model = self.new(iterations)
        self.compute()
        return loss_of(self.task, self.theta())[0] <= target

    def compute(self) -> None:
        with warnings.catch_warnings():  # of being stopped before convergence
            warnings.simplefilter("ignore")
            self.fit()

    def theta(self) -> np.ndarray:
        """[features + 1 x classes], biases last."""
        weights = np.asarray(self.model.coef_, float)
        biases = np.asarray(self.model.intercept_, float).reshape(-1)
        if len(weights) == 1:
            weights, biases = (
                np.stack([-a[0] / 2, a[0] / 2]) for a in (weights, biases)
            )
        return np.vstack([weights.T, biases])

    def download(self) -> dict[str, np.ndarray]:
        theta = self.theta()
        loss = np.full(self.task.steps, loss_of(self.task, theta)[0])
        return {"theta": theta, "loss": loss, "steps": np.array([self.iterations])}
