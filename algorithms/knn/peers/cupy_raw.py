# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy's RawKernel: tiles of products from shared memory with k-best lists; no matrix of distances.

Keys |y|^2 / 2 - x.y are compared in double; for pixels, products and norms are exact.
"""

import cupy

from algorithms.knn.peers import neighbours
from backends.python.gpu import CupyPeer

TILE = 64  # queries and training rows
WORK_ITEMS = 2048  # target number; chunks of training rows are sized for it

PACK = """
// A warp takes a row: values - shift, zero padding, half the norm.
extern "C" __global__ void pack(const Value* rows, long long count, int features, int pitch, float shift,
                                float* packed, float* half) {
  const long long row = blockIdx.x * 8LL + threadIdx.x / 32;
  if (row >= count) return;
  float norm = 0;
  for (int f = threadIdx.x % 32; f < pitch; f += 32) {
    const float value = f < features ? (float)rows[row * features + f] - shift : 0;
    packed[row * pitch + f] = value;
    norm += value * value;
  }
  for (int step = 16; step > 0; step /= 2) norm += __shfl_down_sync(~0u, norm, step);
  if (threadIdx.x % 32 == 0) half[row] = norm / 2;
}
"""
SEARCH = """
__device__ void insert(double (&keys)[K], int (&rows)[K], double key, int row) {
  if (!(key < keys[K - 1])) return;
#pragma unroll
  for (int at = K - 1; at >= 0; --at) {
    if (at > 0 && key < keys[at - 1]) {
      keys[at] = keys[at - 1], rows[at] = rows[at - 1];
    } else {
      keys[at] = key, rows[at] = row;
      break;
    }
  }
}

// A block takes 64 queries and a chunk of training rows, 64 at a time; a thread 4 x 4
// products, the first // 64 threads one query's list each. Rows come in order, so that
// on ties the lower index stays.
extern "C" __global__ void search(const float* test, const float* train, const float* half, long long queries,
                                  long long targets, long long chunk, int pitch, double* best, int* found) {
  __shared__ __align__(16) float x[16][68], y[16][68];
  __shared__ float products[64][65], norms[64];
  const int lane = threadIdx.x, i = lane / 16, j = lane % 16;
  const long long query = blockIdx.x * 64LL, begin = blockIdx.y * chunk;
  const long long end = begin + chunk < targets ? begin + chunk : targets;
  const long long from = query + lane / 4 < queries ? query + lane / 4 : queries - 1;
  double keys[K];
  int rows[K];
  for (int n = 0; n < K; ++n) keys[n] = 1.0 / 0.0, rows[n] = 0;
  for (long long first = begin; first < end; first += 64) {
    const long long target = first + lane / 4 < end ? first + lane / 4 : end - 1;
    float sums[4][4] = {};
    if (lane < 64 && first + lane < end) norms[lane] = half[first + lane];
    for (int f = 0; f < pitch; f += 16) {
      const float4 left = *reinterpret_cast<const float4*>(test + from * pitch + f + lane % 4 * 4);
      const float4 right = *reinterpret_cast<const float4*>(train + target * pitch + f + lane % 4 * 4);
      __syncthreads();
      for (int k = 0; k < 4; ++k) {
        x[lane % 4 * 4 + k][lane / 4] = reinterpret_cast<const float*>(&left)[k];
        y[lane % 4 * 4 + k][lane / 4] = reinterpret_cast<const float*>(&right)[k];
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < 16; ++k) {
        const float4 a = *reinterpret_cast<const float4*>(&x[k][i * 4]);
        const float4 b = *reinterpret_cast<const float4*>(&y[k][j * 4]);
#pragma unroll
        for (int p = 0; p < 4; ++p)
#pragma unroll
          for (int q = 0; q < 4; ++q)
            sums[p][q] += reinterpret_cast<const float*>(&a)[p] * reinterpret_cast<const float*>(&b)[q];
      }
    }
    for (int p = 0; p < 4; ++p)
      for (int q = 0; q < 4; ++q) products[i * 4 + p][j * 4 + q] = sums[p][q];
    __syncthreads();
    if (lane < 64)
      for (int n = 0; n < 64 && first + n < end; ++n)
        insert(keys, rows, (double)norms[n] - products[lane][n], first + n);
    __syncthreads();
  }
  if (lane >= 64 || query + lane >= queries) return;
  for (int n = 0; n < K; ++n) {
    const long long at = (blockIdx.y * queries + query + lane) * K + n;
    best[at] = keys[n], found[at] = rows[n];
  }
}
"""
FINISH = """
// A thread takes a query: merges the lists of all chunks, in row order.
extern "C" __global__ void merge(const double* best, const int* found, long long queries, int chunks,
                                 int* merged) {
  const long long query = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (query >= queries) return;
  double keys[K];
  int rows[K];
  for (int n = 0; n < K; ++n) keys[n] = 1.0 / 0.0, rows[n] = 0;
  for (int chunk = 0; chunk < chunks; ++chunk)
    for (int n = 0; n < K; ++n) {
      const long long at = (chunk * queries + query) * K + n;
      insert(keys, rows, best[at], found[at]);
    }
  for (int n = 0; n < K; ++n) merged[query * K + n] = rows[n];
}

__device__ double vote(double distance, double nearest) {
  if (VOTES == 0) return 1 / (distance + 1e-5);
  if (VOTES == 1) return nearest > 0 ? 1 / distance : distance == 0;
  return 1;
}

// A warp takes a query: distances in double, sorted, ties to the lower index; then the
// vote.
extern "C" __global__ void finish(const Value* train, const int* labels, const Value* test, long long queries,
                                  int features, const int* merged, long long* neighbours, double* distances,
                                  int* winners) {
  const long long query = blockIdx.x * 8LL + threadIdx.x / 32;
  if (query >= queries) return;
  double d[K];
  int rows[K];
  for (int n = 0; n < K; ++n) {
    int row = merged[query * K + n];
    double sum = 0;
    for (int f = threadIdx.x % 32; f < features; f += 32) {
      const double difference = (double)train[(long long)row * features + f] - (double)test[query * features + f];
      sum += difference * difference;
    }
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    double distance = sqrt(sum);
    for (int at = 0; at < n; ++at)
      if (distance < d[at] || (distance == d[at] && row < rows[at])) {
        const double later = d[at];
        const int other = rows[at];
        d[at] = distance, rows[at] = row, distance = later, row = other;
      }
    d[n] = distance, rows[n] = row;
  }
  if (threadIdx.x % 32 != 0) return;
  double max_votes = -1;
  int winner = 0;
  for (int n = 0; n < K; ++n) {
    const int label = labels[rows[n]];
    double votes = 0;
    for (int other = 0; other < K; ++other)
      if (labels[rows[other]] == label) votes += vote(d[other], d[0]);
    if (votes > max_votes || (votes == max_votes && label < winner)) max_votes = votes, winner = label;
    neighbours[query * K + n] = rows[n], distances[query * K + n] = d[n];
  }
  winners[query] = winner;
}
"""


class Fused(CupyPeer):
    method = "fused"
    description = "RawKernels: 64 x 64 tiles of products with k-best lists"
    dtypes = ("f32", "i32", "u8")
    split = ("test", "test_labels")

    def upload(self):
        names = ("train", "train_labels", "test")
        rows = [self.inputs[name] for name in names]
        self.shift = 128.0 if neighbours.are_pixels(rows[0], rows[2]) else 0.0
        self.train, self.labels, self.test = (self.to_device(r) for r in rows)
        k, queries, targets = int(self.parameters["k"]), len(rows[2]), len(rows[0])
        value = {"f32": "float", "i32": "int", "u8": "unsigned char"}
        votes = ("eps", "inverse", "uniform").index(self.parameters["votes"])
        type_of_rows = value[self.parameters["dtype"]]
        options = (f"-DK={k}", f"-DVOTES={votes}", f"-DValue={type_of_rows}")
        names = ("pack", "search", "merge", "finish")
        code = PACK + SEARCH + FINISH
        self.kernels = {n: cupy.RawKernel(code, n, options=options) for n in names}
        blocks, tiles = -(-queries // TILE), -(-targets // TILE)
        self.chunk = -(-tiles // max(1, min(tiles, WORK_ITEMS // blocks))) * TILE
        lists = (-(-targets // self.chunk), queries, k)
        self.best, self.found = cupy.empty(lists), cupy.empty(lists, "i4")
        self.merged = cupy.empty(lists[1:], "i4")
        self.results = {
            "labels": cupy.empty(queries, "i4"),
            "neighbours": cupy.empty(lists[1:], "i8"),
            "neighbour_distances": cupy.empty(lists[1:]),
        }
        self.pitch = -(-rows[0].shape[1] // 16) * 16
        self.packed = [
            (cupy.empty((len(r), self.pitch), "f4"), cupy.empty(len(r), "f4"))
            for r in (self.train, self.test)
        ]

    def reset(self):
        for result in self.results.values():
            result.view(cupy.uint8).fill(0xFF)

    def compute(self):
        long, short = cupy.int64, cupy.int32
        queries, features = self.test.shape
        sizes = (short(features), short(self.pitch), cupy.float32(self.shift))
        rows = zip((self.train, self.test), self.packed, strict=True)
        for values, packed in rows:
            count = len(values)
            arguments = (values, long(count), *sizes, *packed)
            self.kernels["pack"]((-(-count // 8),), (256,), arguments)
        (train, half), (test, _) = self.packed
        chunks, lists = len(self.best), (self.best, self.found)
        limits = (long(queries), long(len(train)), long(self.chunk))
        arguments = (test, train, half, *limits, short(self.pitch), *lists)
        self.kernels["search"]((-(-queries // TILE), chunks), (256,), arguments)
        arguments = (*lists, long(queries), short(chunks), self.merged)
        self.kernels["merge"]((-(-queries // 128),), (128,), arguments)
        arguments = (self.train, self.labels, self.test, long(queries))
        results = [
            self.results[n] for n in ("neighbours", "neighbour_distances", "labels")
        ]
        arguments += (short(features), self.merged, *results)
        self.kernels["finish"]((-(-queries // 8),), (256,), arguments)

    def download(self):
        return {name: self.to_host(value) for name, value in self.results.items()}
