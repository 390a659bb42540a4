# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy's RawKernel: one launch per step; the block that comes last adds the sums of all and takes the step."""

import cupy

from algorithms.linear_regression.peers.rows import start_of, training_rows
from backends.python.cuda_sums import ADD_UP
from backends.python.cupy_solve import CupySolve

BLOCKS_PER_MULTIPROCESSOR = 8
STEP = """
extern "C" __global__ void step(const Value* x, const Value* y, long long rows, long long points, double rate,
                                double* theta, double* loss, long long* taken, double* partials,
                                unsigned* arrived) {
  constexpr int run = 4;  // rows whose loads are under way together, and that are added in Value
  __shared__ double totals[FEATURES + 2];
  Value weights[FEATURES + 1];
  for (int f = 0; f <= FEATURES; ++f) weights[f] = theta[f];
  double sums[FEATURES + 2] = {};
  const long long threads = (long long)gridDim.x * blockDim.x;
  const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (long long begin = first; begin < rows; begin += run * threads) {
    Value mine[FEATURES + 2] = {};
#pragma unroll
    for (int k = 0; k < run; ++k) {
      const long long i = begin + k * threads;
      if (i >= rows) break;
      Value values[FEATURES], error = weights[FEATURES] - y[i];
#pragma unroll
      for (int f = 0; f < FEATURES; ++f) error += weights[f] * (values[f] = x[f * points + i]);
#pragma unroll
      for (int f = 0; f < FEATURES; ++f) mine[f] += error * values[f];
      mine[FEATURES] += error;
      mine[FEATURES + 1] += error * error;
    }
#pragma unroll
    for (int s = 0; s < FEATURES + 2; ++s) sums[s] += mine[s];
  }
  if (!add_up(sums, partials, arrived, totals)) return;
  const int s = threadIdx.x;
  if (s <= FEATURES) theta[s] -= rate / rows * totals[s];
  if (s == FEATURES + 1) loss[(*taken)++] = totals[s] / (2.0 * rows);
}"""


class Raw(CupySolve):
    method = "raw"
    description = "a RawKernel a step"
    dtypes = ("f32", "f64")

    def upload(self):
        self.x, self.y = (self.to_device(self.inputs[name]) for name in ("x", "y"))
        features, points = self.x.shape
        self.hold_state(start_of(self))
        self.rows = training_rows(points)
        value = {"f32": "float", "f64": "double"}[self.parameters["dtype"]]
        options = (f"-DValue={value}", f"-DFEATURES={features}")
        self.kernel = cupy.RawKernel(ADD_UP + STEP, "step", options=options)
        multiprocessors = cupy.cuda.Device().attributes["MultiProcessorCount"]
        max_blocks = multiprocessors * BLOCKS_PER_MULTIPROCESSOR
        self.blocks = min(max_blocks, -(-self.rows // 256))
        self.partials = cupy.empty((features + 2, self.blocks))
        self.arrived = cupy.zeros(1, cupy.uint32)

    def take(self, step):
        rows, points = cupy.int64(self.rows), cupy.int64(self.y.size)
        rate = cupy.float64(float(self.parameters["learning_rate"]))
        state = (self.theta, self.loss, self.taken, self.partials, self.arrived)
        data = (self.x, self.y, rows, points, rate)
        self.kernel((self.blocks,), (256,), (*data, *state))


class Graph(Raw):
    method = "graph"
    description = "the launches of raw, captured into CUDA graphs of 100 steps"
    dtypes = ("f32", "f64")
    captured = True
