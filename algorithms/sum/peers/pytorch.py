# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: its own sum, eager, compiled, and replayed from a CUDA graph.

Eager PyTorch writes a converted copy before it adds floats in double or 32-bit integers in 64 bits; the
compiler fuses both. A sum of floats in float (``x.sum()``) is a different computation: its error bound is
unknown, so that it cannot be checked.
"""

import torch

from backends.python.gpu import TorchPeer
from backends.python.on_cpu import OnCpu


class Eager(TorchPeer):
    method = "eager"
    description = "torch.sum in double, or 64-bit integers"
    dtypes = ("f32", "f64", "i32")
    forms = (("sum", "any order"),)

    def upload(self):
        self.x = self.to_device(self.inputs["x"])
        whole = self.parameters["dtype"] == "i32"
        dtype = torch.int64 if whole else torch.float64
        self.total = torch.empty(1, dtype=dtype, device=self.cuda)

    def reset(self):
        self.total.view(torch.uint8).fill_(0xFF)

    def compute(self):
        torch.sum(self.x, 0, keepdim=True, dtype=self.total.dtype, out=self.total)

    def download(self):
        return {"sum": self.to_host(self.total)}


class Compiled(Eager):
    method = "compiled"
    description = "torch.compile of the same sum"
    dtypes = ("f32", "f64", "i32")
    forms = (("sum", "any order"),)

    def builds(self):
        return True

    def upload(self):
        super().upload()

        def add_up(x, total):
            total.copy_(torch.sum(x, 0, keepdim=True, dtype=total.dtype))

        self.add_up = torch.compile(add_up, dynamic=False)

    def compute(self):
        self.add_up(self.x, self.total)


class CompiledGraph(Compiled):
    method = "compiled_graph"
    description = "the compiled sum, replayed from a CUDA graph"
    dtypes = ("f32", "f64", "i32")
    forms = (("sum", "any order"),)

    def upload(self):
        super().upload()
        super().compute()  # compiles
        self.fence()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            super().compute()

    def compute(self):
        self.graph.replay()


class Cpu(OnCpu, Eager):
    method = "eager_cpu"
    description = "torch.sum, on the CPU"
    dtypes = ("f32", "f64", "i32")
    kind = "host"
