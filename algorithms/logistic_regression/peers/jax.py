# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: one jit of all steps, without returning to the host: a scan, or a while_loop where the tolerance may
end the solve; likewise Newton steps.

theta, intercept first, is kept in double: its updates may be smaller than the last digit of a float. TF32
is not used: these are matrix-vector products.
"""

import functools

import jax
import jax.numpy as jnp

from algorithms.logistic_regression.peers.newton import SHORTEST, SLACK
from backends.python.gpu import JaxPeer


def loss_of(z, y):
    """Mean loss over the rows, from their logits."""
    terms = jnp.maximum(z, 0) - y * z + jnp.log1p(jnp.exp(-jnp.abs(z)))
    return terms.mean(dtype=float)


def penalised(loss, gradient, theta, l2):
    """With the penalty, which excludes the intercept."""
    weights = theta.at[0].set(0)
    return loss + l2 / 2 * (weights @ weights), gradient + l2 * weights


def noted(losses, step, loss):
    """The losses of all steps: this step's is also stored for all later ones, in case the solve ends here."""
    return jnp.where(jnp.arange(len(losses)) < step, losses, loss)


@functools.partial(jax.jit, static_argnames=("steps", "ends"))
def descend(x, y, rate, l2, tolerance, steps, ends):
    """theta, the loss before each step, the number of steps; `ends`: with a tolerance."""

    def take(theta):
        narrow = theta.astype(x.dtype)
        z = narrow[1:] @ x + narrow[0]
        residual = jax.nn.sigmoid(z) - y
        sums = jnp.append(residual.sum(dtype=float), (x @ residual).astype(float))
        loss, gradient = penalised(loss_of(z, y), sums / len(y), theta, l2)
        return theta - rate * gradient, loss, jnp.abs(gradient).max()

    theta = jnp.zeros(len(x) + 1)
    if not ends:
        theta, losses = jax.lax.scan(lambda at, _: take(at)[:2], theta, length=steps)
        return theta, losses, steps

    def goes_on(state):
        step, _, _, largest = state
        return (step < steps) & ~(largest < tolerance)

    def advance(state):
        step, theta, losses, _ = state
        theta, loss, largest = take(theta)
        return step + 1, theta, noted(losses, step, loss), largest

    state = (0, theta, jnp.zeros(steps), jnp.inf)
    step, theta, losses, _ = jax.lax.while_loop(goes_on, advance, state)
    return theta, losses, step


@functools.partial(jax.jit, static_argnames="steps")
def newton(x, y, l2, tolerance, steps):
    """As newton.NewtonSteps: theta, the loss before each step, the number of steps."""
    columns = jnp.vstack([jnp.ones(len(y)), x])  # in double
    penalty = l2 * jnp.diag(jnp.arange(len(columns)) > 0)

    def look(theta):
        z = theta @ columns
        p = jax.nn.sigmoid(z)
        weights = p * jax.nn.sigmoid(-z)
        means = jnp.vstack([columns * weights, p - y]) @ columns.T / len(y)
        loss, gradient = penalised(loss_of(z, y), means[-1], theta, l2)
        return loss, gradient, means[:-1] + penalty

    def goes_on(state):
        return (state["step"] < steps) & ~state["done"]

    def advance(state):
        loss, gradient, hessian = look(state["theta"])
        grows = ~(loss <= state["accepted"] * (1 + SLACK))
        back = grows & (state["share"] > SHORTEST)
        factor = jax.scipy.linalg.cho_factor(hessian)
        found = jax.scipy.linalg.cho_solve(factor, -gradient)
        before = jnp.where(back, state["before"], state["theta"])
        direction = jnp.where(back, state["direction"], found)
        share = jnp.where(back, state["share"] / 2, 1.0)
        return {
            "step": state["step"] + 1,
            "theta": before + share * direction,
            "before": before,
            "direction": direction,
            "share": share,
            "accepted": jnp.where(back, state["accepted"], loss),
            "losses": noted(state["losses"], state["step"], loss),
            "done": (share == 1) & (jnp.abs(gradient).max() < tolerance),
        }

    start = dict.fromkeys(("theta", "before", "direction"), jnp.zeros(len(columns)))
    start |= {"step": 0, "share": 1.0, "accepted": jnp.inf, "done": False}
    start["losses"] = jnp.zeros(steps)
    state = jax.lax.while_loop(goes_on, advance, start)
    return state["theta"], state["losses"], state["step"]


class Regression(JaxPeer):
    """Columns [features x rows] and labels [rows]."""

    def upload(self):
        self.x = self.to_device(self.inputs["columns"])
        self.y = self.to_device(self.inputs["labels"]).astype(self.x.dtype)
        self.rule = {n: float(self.parameters[n]) for n in ("l2", "tolerance")}
        self.rule["steps"] = int(self.parameters["steps"])

    def reset(self):
        self.results = ()

    def download(self):
        theta, loss, steps = self.results
        return {"theta": theta, "loss": loss, "steps": jnp.array([steps])}


class Scan(Regression):
    method = "scan"
    description = "jit of a scan over all steps (tolerance: a while_loop)"
    dtypes = ("f32", "f64")
    forms = (("theta", "library"),)

    def upload(self):
        super().upload()
        self.rule["rate"] = float(self.parameters["learning_rate"])
        self.rule["ends"] = self.rule["tolerance"] > 0

    def compute(self):
        self.results = descend(self.x, self.y, **self.rule)


class Cpu(Scan):
    method = "cpu"
    description = "scan, on the CPU"
    kind = "host"


class Newton(Regression):
    method = "newton"
    description = (
        "jit of a while_loop: one product in double per step, a Cholesky solve"
    )
    dtypes = ("f32", "f64")
    problem = "newton"
    units = (("f32", "f64"),)

    def upload(self):
        super().upload()
        self.y = self.y.astype(float)

    def compute(self):
        self.results = newton(self.x, self.y, **self.rule)


class NewtonCpu(Newton):
    method = "newton_cpu"
    description = "newton, on the CPU"
    kind = "host"
