# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CuPy's RawKernel: CUDA C++ in a string, compiled at run time."""

import cupy

from backends.python.gpu import CupyPeer

TYPES = {"f32": "float4", "f64": "double2", "i32": "int4"}
ADD = """
extern "C" __global__ void add(const VALUE* a, const VALUE* b, VALUE* out, long long n) {
  const long long packs = n * sizeof(*out) / sizeof(PACK), step = (long long)gridDim.x * blockDim.x;
  const long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  for (long long i = at; i < packs; i += step) {
    PACK x = reinterpret_cast<const PACK*>(a)[i];
    const PACK y = reinterpret_cast<const PACK*>(b)[i];
    VALUE* sums = reinterpret_cast<VALUE*>(&x);
    for (int j = 0; j < sizeof(PACK) / sizeof(VALUE); ++j) sums[j] += reinterpret_cast<const VALUE*>(&y)[j];
    reinterpret_cast<PACK*>(out)[i] = x;
  }
  for (long long i = packs * sizeof(PACK) / sizeof(VALUE) + at; i < n; i += step) out[i] = a[i] + b[i];
}"""


class Add(CupyPeer):
    method = "raw"
    description = "a RawKernel with 16-byte accesses"
    dtypes = ("f32", "f64", "i32")
    only = (("memory", "device"),)

    def upload(self):
        self.a, self.b = (
            self.to_device(self.inputs["a"]),
            self.to_device(self.inputs["b"]),
        )
        self.sum = cupy.empty_like(self.a)
        pack = TYPES[self.parameters["dtype"]]
        options = (f"-DPACK={pack}", f"-DVALUE={pack[:-1]}")
        self.add = cupy.RawKernel(ADD, "add", options=options)
        self.teams = max(1, -(-self.sum.nbytes // 16 // 256))

    def reset(self):
        self.sum.view(cupy.uint8).fill(0xFF)

    def compute(self):
        size = cupy.int64(self.sum.size)
        self.add((self.teams,), (256,), (self.a, self.b, self.sum, size))

    def download(self):
        return {"sum": self.to_host(self.sum)}
