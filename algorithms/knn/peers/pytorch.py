# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: a matrix product for a block of queries, topk, and the vote of the neighbours found.

Pixels minus 128 are exact in tf32, bf16 and int8, and their sums of products in f32 or int32, so that all
methods give the same results on them. topk does not define which of several rows tied at the k-th it
returns: such queries are recomputed, for which the host waits once.
"""

import torch
from torch.nn import functional

from algorithms.knn.peers import neighbours, neighbours_torch
from backends.python.gpu import TorchPeer
from backends.python.peer import Unsupported

QUERIES = 32  # blocks of queries for _int_mm are multiples of this
FAR = 2**30  # farther than any row of pixels


class Eager(TorchPeer):
    method = "eager"
    description = "torch.addmm in fp32, torch.topk"
    dtypes = ("f32", "i32", "u8")

    def upload(self):
        names = ("train", "train_labels", "test")
        rows = [self.inputs[name] for name in names]
        self.pixels = neighbours.are_pixels(rows[0], rows[2])
        self.train, self.labels, self.test = (self.to_device(r) for r in rows)

    def reset(self):
        self.results = {}

    def pack(self):
        """Training rows and queries for `keys`, and half the norms of the training rows."""
        train, test = (
            neighbours_torch.packed(rows, self.pixels, torch.float32)
            for rows in (self.train, self.test)
        )
        half = train.square().sum(1) / 2
        return -train, test, half

    def keys(self, minus_train, test, half):
        """|y|^2 / 2 - x.y"""
        return torch.addmm(half, test, minus_train.T)

    def block_rows(self, columns):
        """Queries per block."""
        return neighbours.block_rows(columns, self.device.memory_bytes)

    def compute(self):
        k = int(self.parameters["k"])
        train, test, half = self.pack()
        smallest = neighbours_torch.smallest
        blocks = test.split(self.block_rows(len(train)))
        parts = [smallest(self.keys(train, block, half), k) for block in blocks]
        columns = (torch.cat(column) for column in zip(*parts, strict=True))
        found, ties = (column[: len(self.test)] for column in columns)
        for row in ties.nonzero()[:, 0].tolist():
            squared = neighbours_torch.squares(self.train, self.test[row])
            found[row] = squared.sort(stable=True).indices[:k]
        rows = (self.train, self.labels, self.test, found)
        self.results = neighbours_torch.finish(*rows, self.parameters["votes"])

    def download(self):
        return {name: self.to_host(value) for name, value in self.results.items()}


class Tf32(Eager):
    method = "tf32"
    description = "torch.addmm in tf32, torch.topk"
    dtypes = ("f32", "i32", "u8")
    units = (("f32", "tf32 tensor"), ("i32", "tf32 tensor"), ("u8", "tf32 tensor"))

    def upload(self):
        super().upload()
        if not self.pixels:
            raise Unsupported("takes pixels of up to 1024 features: others need fp32")

    def compute(self):
        torch.set_float32_matmul_precision("high")
        super().compute()
        torch.set_float32_matmul_precision("highest")


class Bf16(Tf32):
    method = "bf16"
    description = "torch.mm of bf16 into fp32, torch.topk"
    dtypes = ("f32", "i32", "u8")
    units = (("f32", "bf16 tensor"), ("i32", "bf16 tensor"), ("u8", "bf16 tensor"))

    def pack(self):
        train, test = (
            neighbours_torch.packed(rows, self.pixels, torch.float32)
            for rows in (self.train, self.test)
        )
        half = train.square().sum(1) / 2
        return -train.bfloat16(), test.bfloat16(), half

    def keys(self, minus_train, test, half):
        minus = torch.mm(test, minus_train.T, out_dtype=torch.float32)
        return minus.add_(half)


class Int8(Eager):
    method = "i8"
    description = "torch._int_mm of int8 into int32, torch.topk"
    dtypes = ("f32", "i32", "u8")
    units = (("f32", "u8 tensor"), ("i32", "u8 tensor"), ("u8", "u8 tensor"))

    def upload(self):
        super().upload()
        max_features, rows = neighbours.EXACT_FEATURES_I32, ("train", "test")
        if not neighbours.are_pixels(
            *(self.inputs[n] for n in rows), features=max_features
        ):
            raise Unsupported(f"takes pixels of up to {max_features} features: bytes")

    def pack(self):
        """Pixels minus 128, and the norms. _int_mm needs multiples of 8 features and training rows and at
        least 17 queries: padding is 0, and padding rows get a norm too large to be found."""
        train, test = (
            functional.pad(
                (rows.to(torch.int16) - 128).to(torch.int8),
                (0, -rows.shape[1] % 16, 0, -len(rows) % QUERIES),
            )
            for rows in (self.train, self.test)
        )
        norms = train.int().square().sum(1, dtype=torch.int32)
        norms[len(self.train) :] = FAR
        return train, test, norms

    def keys(self, train, test, norms):
        """|y|^2 - 2 x.y"""
        products = torch._int_mm(test, train.T)
        return torch.sub(norms, products, alpha=2, out=products)

    def block_rows(self, columns):
        rows = super().block_rows(columns)
        return max(QUERIES, rows // QUERIES * QUERIES)
