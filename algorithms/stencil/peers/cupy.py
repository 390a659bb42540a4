# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy: one elementwise kernel per step, which reads its neighbours by index."""

import cupy

from backends.python.gpu import CupyPeer

STEP = cupy.ElementwiseKernel(
    "raw T u, int64 n",
    "T out",
    """
    const long long x = i % n, y = i / n % n, z = i / (n * n);
    const T sum = (x > 0 ? u[i - 1] : T(0)) + (x + 1 < n ? u[i + 1] : T(0))
                + (y > 0 ? u[i - n] : T(0)) + (y + 1 < n ? u[i + n] : T(0))
                + (z > 0 ? u[i - n * n] : T(0)) + (z + 1 < n ? u[i + n * n] : T(0));
    out = T(0.25) * u[i] + T(0.125) * sum;
    """,
    "stencil_step",
)


class Elementwise(CupyPeer):
    method = "elementwise"
    description = "one elementwise kernel per step, neighbours by index"
    dtypes = ("f32", "f64")

    def upload(self):
        self.initial = self.to_device(self.inputs["initial"])
        self.grids = [cupy.empty_like(self.initial), cupy.empty_like(self.initial)]

    def reset(self):
        for grid in self.grids:
            grid.fill(cupy.nan)

    def compute(self):
        here = self.initial
        for step in range(int(self.parameters["steps"])):
            there = self.grids[step % 2]
            STEP(here, here.shape[0], there)
            here = there
        self.result = here

    def download(self):
        return {"values": self.to_host(self.result)}
