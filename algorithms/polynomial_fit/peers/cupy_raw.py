# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy's RawKernel: one launch per step; the block that comes last adds the sums of all and takes the step."""

import cupy

from backends.python.cuda_sums import ADD_UP
from backends.python.cupy_solve import CupySolve

STEP = """
extern "C" __global__ void step(const Value* x, const Value* y, long long points, double scale, double* theta,
                                double* loss, long long* taken, double* partials, unsigned* arrived) {
  __shared__ double totals[5];
  const Value a = theta[0], b = theta[1], c = theta[2], d = theta[3];
  double sums[5] = {};
  const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (long long i = first; i < points; i += (long long)gridDim.x * blockDim.x) {
    const Value square = x[i] * x[i], cube = square * x[i];
    const Value error = a + b * x[i] + c * square + d * cube - y[i];
    sums[0] += error;
    sums[1] += error * x[i];
    sums[2] += error * square;
    sums[3] += error * cube;
    sums[4] += error * error;
  }
  if (!add_up(sums, partials, arrived, totals)) return;
  if (threadIdx.x < 4) theta[threadIdx.x] -= scale * totals[threadIdx.x];
  if (threadIdx.x == 4) loss[(*taken)++] = totals[4];
}"""


class Raw(CupySolve):
    method = "raw"
    description = "a RawKernel a step"
    dtypes = ("f32", "f64")

    def upload(self):
        self.x, self.y = (self.to_device(self.inputs[name]) for name in ("x", "y"))
        self.hold_state(self.inputs["start"])
        value = {"f32": "float", "f64": "double"}[self.parameters["dtype"]]
        self.kernel = cupy.RawKernel(
            ADD_UP + STEP, "step", options=(f"-DValue={value}",)
        )
        self.blocks = min(1024, -(-self.x.size // 256))
        self.partials = cupy.empty((5, self.blocks))
        self.arrived = cupy.zeros(1, cupy.uint32)

    def take(self, step):
        points = cupy.int64(self.x.size)
        scale = cupy.float64(2 * float(self.parameters["learning_rate"]))
        state = (self.theta, self.loss, self.taken, self.partials, self.arrived)
        self.kernel((self.blocks,), (256,), (self.x, self.y, points, scale, *state))


class Graph(Raw):
    method = "graph"
    description = "the launches of raw, captured into CUDA graphs of 100 steps"
    dtypes = ("f32", "f64")
    captured = True
