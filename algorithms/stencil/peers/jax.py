# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: one jit of a scan over all steps; a step pads the cube with zeros and adds shifted arrays, in one kernel."""

import functools

import jax
import jax.numpy as jnp

from backends.python.gpu import JaxPeer


def step(here, _):
    """The cube after a step."""
    shell = jnp.pad(here, 1)
    sides = shell[1:-1, 1:-1, :-2] + shell[1:-1, 1:-1, 2:]
    sides = sides + shell[1:-1, :-2, 1:-1] + shell[1:-1, 2:, 1:-1]
    sides = sides + shell[:-2, 1:-1, 1:-1] + shell[2:, 1:-1, 1:-1]
    return 0.25 * here + 0.125 * sides, None


@functools.partial(jax.jit, static_argnames="steps")
def solve(initial, steps):
    return jax.lax.scan(step, initial, length=steps)[0]


class Scan(JaxPeer):
    method = "scan"
    description = "jit of a scan over all steps: sums of shifted arrays"
    dtypes = ("f32", "f64")

    def upload(self):
        self.initial = self.to_device(self.inputs["initial"])

    def reset(self):
        self.results = ()

    def compute(self):
        self.results = solve(self.initial, int(self.parameters["steps"]))

    def download(self):
        return {"values": self.results}


class Cpu(Scan):
    method = "cpu"
    description = "scan, on the CPU"
    kind = "host"
