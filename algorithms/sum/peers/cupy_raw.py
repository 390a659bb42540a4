# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy's RawKernel: 16-byte loads, sums in double (64-bit integers), one launch."""

import cupy

from backends.python.gpu import CupyPeer

TYPES = {"f32": "float4", "f64": "double2", "i32": "int4"}
BLOCKS_PER_MULTIPROCESSOR = 8
SUM = """
extern "C" __global__ void sum(const Value* x, long long n, TOTAL* total) {
  constexpr int width = sizeof(PACK) / sizeof(Value), deep = 4;
  const long long packs = n / width, step = (long long)gridDim.x * blockDim.x;
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  TOTAL mine = 0;
  long long i = at;
  for (; i + (deep - 1) * step < packs; i += deep * step) {
    PACK loaded[deep];
#pragma unroll
    for (int k = 0; k < deep; ++k) loaded[k] = reinterpret_cast<const PACK*>(x)[i + k * step];
#pragma unroll
    for (int k = 0; k < deep; ++k)
#pragma unroll
      for (int j = 0; j < width; ++j) mine += reinterpret_cast<const Value*>(&loaded[k])[j];
  }
  for (; i < packs; i += step)
    for (int j = 0; j < width; ++j) mine += x[i * width + j];
  for (i = packs * width + at; i < n; i += step) mine += x[i];
  __shared__ TOTAL of_warps[8];
  for (int lanes = 16; lanes > 0; lanes /= 2) mine += __shfl_down_sync(~0u, mine, lanes);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int w = 1; w < 8; ++w) mine += of_warps[w];
  atomicAdd(reinterpret_cast<ATOMIC*>(total), static_cast<ATOMIC>(mine));
}"""


class Raw(CupyPeer):
    method = "raw"
    description = "a RawKernel: one sum per block, added to one value by atomics"
    dtypes = ("f32", "f64", "i32")
    forms = (("sum", "any order"),)

    def upload(self):
        self.x = self.to_device(self.inputs["x"])
        dtype = self.parameters["dtype"]
        whole = dtype == "i32"
        self.total = cupy.empty(1, cupy.int64 if whole else cupy.float64)
        pack, total = TYPES[dtype], "long long" if whole else "double"
        atomic = "unsigned long long" if whole else "double"
        options = (f"-DPACK={pack}", f"-DValue={pack[:-1]}")
        options += (f"-DTOTAL={total}", f"-DATOMIC={atomic}")
        self.sum = cupy.RawKernel(SUM, "sum", options=options)
        multiprocessors = cupy.cuda.Device().attributes["MultiProcessorCount"]
        max_blocks = multiprocessors * BLOCKS_PER_MULTIPROCESSOR
        self.blocks = max(1, min(max_blocks, -(-self.x.nbytes // (16 * 256))))

    def reset(self):
        self.total.view(cupy.uint8).fill(0xFF)

    def compute(self):
        self.total.fill(0)
        size = cupy.int64(self.x.size)
        self.sum((self.blocks,), (256,), (self.x, size, self.total))

    def download(self):
        return {"sum": self.to_host(self.total)}
