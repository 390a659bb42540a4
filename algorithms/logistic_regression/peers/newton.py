# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damped Newton steps, for any library: theta += s where H s = -gradient.

Sums are in double, as the error bound requires. The Hessian X^T diag(p (1 - p)) X and the gradient X^T (p
- y) are one product of the scaled columns and the residual with the columns. In each step the host waits
for the loss and the largest gradient component, to end the solve in time.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

SLACK = (
    2.0**-10
)  # relative: a step that increases the loss by more is undone and halved
SHORTEST = 2.0**-30  # fraction of a step


class NewtonSteps:
    """A solve by a subclass's `look` and `solve`, with the members named here."""

    dtypes = ("f32", "f64")
    problem = "newton"
    units = (("f32", "f64"),)
    #: The stream cannot be held back, because the host waits for it in every step.
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
        """The loss at theta and the largest gradient component; computes the sums for `solve`."""

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
