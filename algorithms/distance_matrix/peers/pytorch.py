# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: cdist, the expanded form, and the formula compiled and captured into a CUDA graph.

No method with TF32: coordinates are not whole numbers, and rounding them to 11 bits exceeds the bound.
"""

import torch

from backends.python.gpu import TorchPeer
from backends.python.on_cpu import OnCpu
from backends.python.peer import Unsupported

MAX_COORDINATES = 32  # of the compiled formula, which reads both points for each pair


class Matrix(TorchPeer):
    def upload(self):
        self.points = self.to_device(self.inputs["points"])
        n = len(self.points)
        self.distances = self.points.new_empty(n, n)
        self.euclidean = self.parameters["metric"] == "euclidean"

    def reset(self):
        self.distances.fill_(float("nan"))

    def download(self):
        return {"distances": self.to_host(self.distances)}


class Library(Matrix):
    method = "library"
    description = "torch.cdist by differences"
    dtypes = ("f32", "f64")

    def compute(self):
        mode = "donot_use_mm_for_euclid_dist"
        self.distances = torch.cdist(self.points, self.points, compute_mode=mode)
        if not self.euclidean:
            self.distances.square_()


class LibraryProduct(Matrix):
    method = "library_product"
    description = "torch.cdist by a matrix product, the diagonal set"
    dtypes = ("f32", "f64")
    forms = (("distances", "expanded"),)

    def compute(self):
        mode = "use_mm_for_euclid_dist"
        self.distances = torch.cdist(self.points, self.points, compute_mode=mode)
        self.distances.fill_diagonal_(0)
        if not self.euclidean:
            self.distances.square_()


class Product(Matrix):
    method = "product"
    description = "|x|^2 + |y|^2 - 2 x.y by torch.addmm"
    dtypes = ("f32", "f64")
    forms = (("distances", "expanded"),)

    def compute(self):
        norms = self.points.square().sum(1)
        if self.trace:
            self.trace.end("norms")
        out = self.distances
        torch.addmm(norms, self.points, self.points.T, alpha=-2, out=out)
        if self.trace:
            self.trace.end("matmul")
        out.add_(norms[:, None]).clamp_(min=0).fill_diagonal_(0)
        if self.euclidean:
            out.sqrt_()
        if self.trace:
            self.trace.end("rest")


class Compiled(Matrix):
    method = "compiled"
    description = "torch.compile of the differences: one kernel, no temporary"
    dtypes = ("f32", "f64")

    def builds(self):
        return True

    def upload(self):
        super().upload()
        if self.points.shape[1] > MAX_COORDINATES:
            raise Unsupported(f"up to {MAX_COORDINATES} coordinates")

        def distances(points, out):
            squared = (points[:, None] - points[None]).square().sum(2)
            out.copy_(squared.sqrt() if self.euclidean else squared)

        self.compiled = torch.compile(distances, dynamic=False)

    def compute(self):
        self.compiled(self.points, self.distances)


class CompiledGraph(Compiled):
    method = "compiled_graph"
    description = "the compiled differences, replayed from a CUDA graph"
    dtypes = ("f32", "f64")

    def upload(self):
        super().upload()
        super().compute()  # compiles
        self.fence()
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            super().compute()

    def compute(self):
        self.graph.replay()


class ProductCpu(OnCpu, Product):
    method = "product_cpu"
    description = "product, on the CPU"
    dtypes = ("f32", "f64")
    kind = "host"
