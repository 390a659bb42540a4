# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: bandwidth of its own passes over memory."""

import torch

from backends.python.gpu import TorchPeer


class Copy(TorchPeer):
    method = "copy"
    description = "torch.Tensor.copy_"
    dtypes = ("f32", "f64")
    problem = "copy"

    def upload(self):
        self.a = self.to_device(self.inputs["a"])
        self.values = torch.empty_like(self.a)

    def reset(self):
        self.values.fill_(float("nan"))

    def compute(self):
        self.values.copy_(self.a)

    def download(self):
        return {"values": self.to_host(self.values)}


class Add(Copy):
    method = "add"
    description = "torch.add into a separate tensor"
    dtypes = ("f32", "f64")
    problem = "add"

    def upload(self):
        super().upload()
        self.b = self.to_device(self.inputs["b"])

    def compute(self):
        torch.add(self.a, self.b, out=self.values)


class Triad(Add):
    method = "triad"
    description = "torch.add with alpha = 3 into a separate tensor"
    problem = "triad"

    def compute(self):
        torch.add(self.a, self.b, alpha=3, out=self.values)


class Read(TorchPeer):
    method = "read"
    description = "torch.sum of each chunk"
    dtypes = ("f32", "f64")
    problem = "read"

    def upload(self):
        self.a = self.to_device(self.inputs["a"])
        self.sums = self.a.new_empty(len(self.a), 1)

    def reset(self):
        self.sums.fill_(float("nan"))

    def compute(self):
        torch.sum(self.a, 1, keepdim=True, out=self.sums)

    def download(self):
        return {"sums": self.to_host(self.sums)}
