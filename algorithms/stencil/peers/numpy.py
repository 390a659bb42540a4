# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy: sums of shifted arrays, in place, in a cube with a shell of zeros."""

import numpy as np

from backends.python.peer import HostPeer


class Library(HostPeer):
    method = "library"
    description = "sums of shifted arrays, into separate arrays"
    dtypes = ("f32", "f64")

    def upload(self):
        self.initial = np.pad(self.inputs["initial"], 1)
        self.grids = [np.zeros_like(self.initial) for _ in range(2)]
        self.work = np.empty_like(self.inputs["initial"])

    def reset(self):
        for grid in self.grids:
            grid[1:-1, 1:-1, 1:-1] = np.nan

    def compute(self):
        here = self.initial
        for step in range(int(self.parameters["steps"])):
            there = self.grids[step % 2]
            inside = there[1:-1, 1:-1, 1:-1]
            np.add(here[1:-1, 1:-1, :-2], here[1:-1, 1:-1, 2:], out=inside)
            inside += here[1:-1, :-2, 1:-1]
            inside += here[1:-1, 2:, 1:-1]
            inside += here[:-2, 1:-1, 1:-1]
            inside += here[2:, 1:-1, 1:-1]
            inside *= 0.125
            np.multiply(here[1:-1, 1:-1, 1:-1], 0.25, out=self.work)
            inside += self.work
            here = there
        self.result = here[1:-1, 1:-1, 1:-1]

    def download(self):
        return {"values": np.ascontiguousarray(self.result)}
