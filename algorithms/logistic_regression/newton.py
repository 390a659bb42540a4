# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damped Newton steps, whatever library adds the rows: theta += s where H s = -gradient.

Rows are added in double, as their error bound asks: the Hessian X^T diag(p (1 - p)) X and the gradient
X^T (p - y) are one product, of the columns scaled, the excess as one more, with the columns. The host
waits for two numbers a step, the loss and the gradient's largest component, and so ends a solve in time.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

SLACK = (
    2.0**-10
)  # of the loss: a step that makes it grow by more is taken back and halved
SHORTEST = 2.0**-30  # share of a step


class NewtonSteps:
    """A solve by what a subclass gives: `look` and `solve`, and what is named here."""

    dtypes = ("f32", "f64")
    problem = "newton"
    units = (("f32", "f64"),)
    #: The stream cannot be held back: the host waits for it in every step.
    held = False

    parameters: Mapping[str, Any]
    theta: Any  #: f64 [features + 1], the intercept first
    before: Any  #: the last accepted theta
    direction: Any  #: the step from it
    loss: Any  #: f64 [steps]
    taken: Any  #: i64 [1]
    begin: Callable[[], None]  #: the state before the first step

    @abstractmethod
    def look(self) -> tuple[float, float]:
        """The loss at theta and its gradient's largest component; adds up what `solve` needs."""

    @abstractmethod
    def solve(self) -> Any:
        """The step from theta; NaN where the Hessian is not definite."""

    def compute(self) -> None:
        tolerance = float(self.parameters["tolerance"])
        self.begin()
        accepted, share = math.inf, 1.0
        for step in range(len(self.loss)):
            loss, largest = self.look()
            self.loss[step:] = loss
            self.taken[:] = step + 1
            if not loss <= accepted * (1 + SLACK) and share > SHORTEST:
                share /= 2
            else:
                accepted, share = loss, 1.0
                self.before[:] = self.theta
                self.direction[:] = self.solve()
            self.theta[:] = self.before + share * self.direction
            if share == 1 and largest < tolerance:
                break
