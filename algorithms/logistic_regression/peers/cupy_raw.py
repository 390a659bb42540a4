# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy's RawKernel: each row is read once; the last block (ticket) adds all partials and takes the step."""

import cupy

from backends.python.cuda_sums import ADD_UP
from backends.python.cupy_solve import CupySolve

BLOCKS_PER_MULTIPROCESSOR = 8
STEP = """
struct Rule { double rate, l2, tolerance; };

// Thread s takes component s of theta. taken: effective steps, submitted steps, stop
// flag.
__device__ void descend(const Rule& rule, long long rows, double* theta, double* loss, long long* taken,
                        const double* totals) {
  const int s = threadIdx.x;
  const long long step = taken[1];
  const bool stopped = taken[2];
  double gradient = 0, penalty = 0;
  if (s <= FEATURES) gradient = totals[s] / rows + (s > 0 ? rule.l2 * theta[s] : 0);
  if (s == 0)
    for (int f = 1; f <= FEATURES; ++f) penalty += rule.l2 / 2 * theta[f] * theta[f];
  const bool small = __syncthreads_and(abs(gradient) < rule.tolerance);
  if (s == 0) {
    loss[step] = stopped ? loss[step - 1] : totals[FEATURES + 1] / rows + penalty;
    taken[1] = step + 1;
    if (!stopped) taken[0] = step + 1;
    if (small) taken[2] = 1;
  }
  if (s <= FEATURES && !stopped) theta[s] -= rule.rate * gradient;
}

extern "C" __global__ void step(const Value* x, const unsigned char* y, long long rows, double rate, double l2,
                                double tolerance, double* theta, double* loss, long long* taken,
                                double* partials, unsigned* arrived) {
  __shared__ double totals[FEATURES + 2];
  __shared__ Value weights[FEATURES + 1];
  for (int f = threadIdx.x; f <= FEATURES; f += blockDim.x) weights[f] = theta[f];
  __syncthreads();
  double sums[FEATURES + 2] = {};
  const long long first = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (long long i = first; i < rows; i += (long long)gridDim.x * blockDim.x) {
    Value values[FEATURES], z = weights[0];
#pragma unroll
    for (int f = 0; f < FEATURES; ++f) values[f] = x[f * rows + i];
#pragma unroll
    for (int f = 0; f < FEATURES; ++f) z += weights[f + 1] * values[f];
    const Value label = y[i], t = exp(-abs(z));
    const Value residual = (z >= 0 ? 1 : t) / (1 + t) - label;
    sums[0] += residual;
#pragma unroll
    for (int f = 0; f < FEATURES; ++f) sums[f + 1] += residual * values[f];
    sums[FEATURES + 1] += (z > 0 ? z : 0) - label * z + log1p(t);
  }
  if (add_up(sums, partials, arrived, totals))
    descend({rate, l2, tolerance}, rows, theta, loss, taken, totals);
}"""


class Raw(CupySolve):
    method = "raw"
    description = "one RawKernel per step"
    dtypes = ("f32", "f64")

    def upload(self):
        self.x = self.to_device(self.inputs["columns"])
        self.y = self.to_device(self.inputs["labels"])
        features, self.rows = self.x.shape
        self.hold_state([0] * (features + 1))
        self.taken = cupy.empty(3, cupy.int64)
        value = {"f32": "float", "f64": "double"}[self.parameters["dtype"]]
        options = (f"-DValue={value}", f"-DFEATURES={features}")
        self.kernel = cupy.RawKernel(ADD_UP + STEP, "step", options=options)
        multiprocessors = cupy.cuda.Device().attributes["MultiProcessorCount"]
        max_blocks = multiprocessors * BLOCKS_PER_MULTIPROCESSOR
        self.blocks = min(max_blocks, -(-self.rows // 256))
        self.partials = cupy.empty((features + 2, self.blocks))
        self.arrived = cupy.zeros(1, cupy.uint32)

    def take(self, step):
        rule = (
            cupy.float64(float(self.parameters[name]))
            for name in ("learning_rate", "l2", "tolerance")
        )
        data = (self.x, self.y, cupy.int64(self.rows), *rule)
        state = (self.theta, self.loss, self.taken, self.partials, self.arrived)
        self.kernel((self.blocks,), (256,), (*data, *state))

    def download(self):
        results = super().download()
        return {**results, "steps": results["steps"][:1]}


class Graph(Raw):
    method = "graph"
    description = "the launches of raw, captured into CUDA graphs of 100 steps"
    dtypes = ("f32", "f64")
    captured = True
