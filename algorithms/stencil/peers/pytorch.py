# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch on a GPU: sums of shifted tensors in a cube with a shell of zeros; eager, and compiled."""

import torch

from backends.python.gpu import TorchPeer


def step(here, there):
    """One step into the interior of `there`; the shell stays 0."""
    sides = here[1:-1, 1:-1, :-2] + here[1:-1, 1:-1, 2:]
    sides = sides + here[1:-1, :-2, 1:-1] + here[1:-1, 2:, 1:-1]
    sides = sides + here[:-2, 1:-1, 1:-1] + here[2:, 1:-1, 1:-1]
    there[1:-1, 1:-1, 1:-1].copy_(0.25 * here[1:-1, 1:-1, 1:-1] + 0.125 * sides)


class Eager(TorchPeer):
    method = "eager"
    description = "sums of shifted tensors"
    dtypes = ("f32", "f64")
    step = staticmethod(step)

    def upload(self):
        initial = self.to_device(self.inputs["initial"])
        self.initial = torch.nn.functional.pad(initial, (1,) * 6)
        self.grids = [torch.zeros_like(self.initial) for _ in range(2)]

    def reset(self):
        for grid in self.grids:
            grid[1:-1, 1:-1, 1:-1] = torch.nan

    def compute(self):
        here = self.initial
        for number in range(int(self.parameters["steps"])):
            there = self.grids[number % 2]
            self.step(here, there)
            here = there
        self.result = here

    def download(self):
        return {"values": self.to_host(self.result[1:-1, 1:-1, 1:-1].contiguous())}


class Compiled(Eager):
    method = "compiled"
    description = "torch.compile of the same step"

    def builds(self):
        return True

    def upload(self):
        super().upload()
        self.step = torch.compile(step)
