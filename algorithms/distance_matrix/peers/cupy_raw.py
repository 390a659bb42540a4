# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy's RawKernel: a thread takes a column and some rows, its point's coordinates from registers or the cache."""

import cupy

from backends.python.gpu import CupyPeer

ROWS = 8  # per thread
DISTANCES = """
extern "C" __global__ void distances(const Value* points, long long n, int dimension, Value* out) {
  const long long column = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  const long long first = (long long)blockIdx.y * ROWS;
  if (column >= n) return;
  Value sums[ROWS] = {};
  for (int k = 0; k < dimension; ++k) {
    const Value x = points[column * dimension + k];
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const long long row = first + r < n ? first + r : n - 1;
      const Value difference = points[row * dimension + k] - x;
      sums[r] += difference * difference;
    }
  }
#pragma unroll
  for (int r = 0; r < ROWS; ++r)
    if (first + r < n) out[(first + r) * n + column] = EUCLIDEAN ? sqrt(sums[r]) : sums[r];
}"""


class Raw(CupyPeer):
    method = "raw"
    description = "a RawKernel, 8 values per thread"
    dtypes = ("f32", "f64")

    def upload(self):
        self.points = self.to_device(self.inputs["points"])
        n = len(self.points)
        self.distances = cupy.empty((n, n), self.points.dtype)
        value = {"f32": "float", "f64": "double"}[self.parameters["dtype"]]
        euclidean = int(self.parameters["metric"] == "euclidean")
        options = (f"-DValue={value}", f"-DROWS={ROWS}", f"-DEUCLIDEAN={euclidean}")
        self.kernel = cupy.RawKernel(DISTANCES, "distances", options=options)

    def reset(self):
        self.distances.fill(cupy.nan)

    def compute(self):
        n, dimension = self.points.shape
        grid = (-(-n // 256), -(-n // ROWS))
        sizes = (cupy.int64(n), cupy.int32(dimension))
        self.kernel(grid, (256,), (self.points, *sizes, self.distances))

    def download(self):
        return {"distances": self.to_host(self.distances)}
