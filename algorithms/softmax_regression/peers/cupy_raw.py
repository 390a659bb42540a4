# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy's RawKernel between the library's two products: softmax, residuals and loss in one pass, the update in
another. Rows end with a constant feature, so that biases are ordinary weights.
"""

import cupy
import numpy as np

from algorithms.softmax_regression.peers.rows import task_of
from backends.python.cupy_solve import CupySolve

PITCH = 16  # rows are padded to whole 64-byte lines
SOFTMAX = """
// A thread takes a row: logits to residuals.
extern "C" __global__ void softmax(float* z, const int* labels, int rows, double* loss) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, label = row < rows ? labels[row] : 0;
  double mine = 0;
  if (row < rows) {
    float values[CLASSES], largest = -1.0f / 0.0f, sum = 0, of_label = 0;
#pragma unroll
    for (int c = 0; c < CLASSES; ++c) largest = fmaxf(largest, values[c] = z[row * (long long)CLASSES + c]);
#pragma unroll
    for (int c = 0; c < CLASSES; ++c) {
      if (c == label) of_label = values[c] - largest;
      sum += values[c] = expf(values[c] - largest);
    }
#pragma unroll
    for (int c = 0; c < CLASSES; ++c) z[row * (long long)CLASSES + c] = values[c] / sum - (c == label);
    mine = (double)(logf(sum) - of_label) / rows;
  }
  for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
  if (threadIdx.x % 32 == 0) atomicAdd(loss, mine);
}
"""
UPDATE = """
// A thread takes a weight: updates theta from the gradient, and the weights for the
// next products.
extern "C" __global__ void update(const float* gradient, int features, int count, double share, double scale,
                                  double shrink, double penalty, double* theta, float* weights, double* loss) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  double mine = 0;
  if (i < count) {
    const bool is_weight = i < features * CLASSES;
    const double before = theta[i], after = before * (is_weight ? shrink : 1) - share * scale * gradient[i];
    if (is_weight) mine = penalty * before * before;
    theta[i] = after;
    weights[i] = after * scale;
  }
  if (penalty == 0) return;
  for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
  if (threadIdx.x % 32 == 0) atomicAdd(loss, mine);
}
"""


class Raw(CupySolve):
    method = "raw"
    description = "two cupy.matmul per step, RawKernels for softmax and update"
    dtypes = ("f32",)
    forms = (("theta", "product"),)

    def upload(self):
        self.task = task = task_of(self)
        rows, self.features = task.rows.shape
        pitch = -(-(self.features + 1) // PITCH) * PITCH
        stored = np.zeros((rows, pitch), np.float32)
        stored[:, : self.features] = task.rows
        stored[:, self.features] = round(1 / task.scale)
        self.rows, self.labels = self.to_device(stored), self.to_device(task.labels)
        self.hold_state(cupy.zeros((pitch, task.classes)))
        self.weights = cupy.empty((pitch, task.classes), "f4")
        self.gradient = cupy.empty_like(self.weights)
        self.z = cupy.empty((task.batch, task.classes), "f4")
        options = (f"-DCLASSES={task.classes}",)
        self.softmax = cupy.RawKernel(SOFTMAX, "softmax", options=options)
        self.update = cupy.RawKernel(UPDATE, "update", options=options)

    def begin(self):
        super().begin()
        self.weights.fill(0)
        self.loss.fill(0)

    def take(self, step):
        task, part = self.task, self.task.part(step)
        x, labels, loss = self.rows[part], self.labels[part], self.loss[step:]
        z, count = self.z[: len(x)], self.theta.size
        cupy.matmul(x, self.weights, out=z)
        rows = cupy.int32(len(x))
        self.softmax((-(-len(x) // 128),), (128,), (z, labels, rows, loss))
        cupy.matmul(x.T, z, out=self.gradient)
        rule = (task.rate / len(x), task.scale, 1 - task.rate * task.l2, task.l2 / 2)
        sizes = (cupy.int32(self.features), cupy.int32(count))
        state = (self.theta, self.weights, loss)
        arguments = (self.gradient, *sizes, *map(cupy.float64, rule), *state)
        self.update((-(-count // 128),), (128,), arguments)
        self.taken += 1

    def download(self):
        results = super().download()
        return {**results, "theta": results["theta"][: self.features + 1].copy()}
