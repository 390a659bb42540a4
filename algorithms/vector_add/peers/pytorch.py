# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch on a GPU: eager, compiled, and replayed from a CUDA graph."""

import torch

from backends.python.gpu import TorchPeer
from backends.python.on_cpu import OnCpu


class Eager(TorchPeer):
    method = "eager"
    description = "torch.add into a separate tensor"
    dtypes = ("f32", "f64", "i32")
    only = (("memory", "device"),)

    def upload(self):
        self.a = self.to_device(self.inputs["a"])
        self.b = self.to_device(self.inputs["b"])
        self.sum = self.a.new_empty(len(self.a))  # also valid for empty tensors

    def reset(self):
        self.sum.view(torch.uint8).fill_(0xFF)

    def compute(self):
        torch.add(self.a, self.b, out=self.sum)

    def download(self):
        return {"sum": self.to_host(self.sum)}


class Compiled(Eager):
    method = "compiled"
    description = "torch.compile of the same sum"

    def builds(self):
        return True

    def upload(self):
        super().upload()
        self.add = torch.compile(lambda a, b, out: out.copy_(a + b))

    def compute(self):
        self.add(self.a, self.b, self.sum)


class Graph(Eager):
    method = "graph"
    description = "the eager sum, replayed from a CUDA graph"

    def builds(self):
        return True

    def upload(self):
        super().upload()
        self.fence()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            super().compute()

    def compute(self):
        self.graph.replay()


class Cpu(OnCpu, Eager):
    method = "eager_cpu"
    description = "torch.add into an existing tensor, on the CPU"
    dtypes = ("f32", "f64", "i32")
    kind = "host"
