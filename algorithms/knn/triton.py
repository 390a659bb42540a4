# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton: tiles of fp16 products added in fp32, the k best on the way, no matrix of distances.

Pixels less 128 are exact in fp16, their products and norms stay within 2^24, and keys |y|^2 - 2 x.y are
integers: what is nearest, and which of equals comes first, is exact. A list of k is one int64 a neighbour,
key above row number, so that the largest is the one to go.
"""

import torch
import triton
import triton.language as tl

from algorithms.knn import neighbours, neighbours_torch
from backends.python.gpu import TorchPeer
from backends.python.peer import Unsupported

QUERIES, TARGETS, FEATURES = 128, 256, 64  # a tile
CHUNKS = 4  # of the training rows: more work items
MOST = 16  # neighbours
NONE = tl.constexpr(2**62)  # an empty slot; less than 0: a slot that is not used
FAR = tl.constexpr(2**31 - 1)


@triton.jit
def pack(rows, packed, norms, features, PITCH: tl.constexpr, BLOCK: tl.constexpr):
    """A program a row: values less 128 in fp16, zeros behind them, and the norm."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mine = at < features
    values = tl.load(rows + row * features + at, mine, 128).to(tl.float32) - 128
    tl.store(packed + row * PITCH + at, values.to(tl.float16), at < PITCH)
    tl.store(norms + row, tl.sum(values * values, 0).to(tl.int32))


@triton.jit
def search(
    test,
    train,
    norms,
    found,
    queries,
    targets,
    chunk,
    PITCH: tl.constexpr,
    K: tl.constexpr,
    LIST: tl.constexpr,
    QUERIES: tl.constexpr,
    TARGETS: tl.constexpr,
    FEATURES: tl.constexpr,
):
    """A program takes a tile of queries and a chunk of the training rows, tile by tile, in their order.

    found [chunks x queries x LIST]: lists in no order, K of them neighbours.
    """
    query = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    first = tl.program_id(1) * chunk
    last = tl.minimum(first + chunk, targets)
    feature, target = tl.arange(0, FEATURES), tl.arange(0, TARGETS)
    slot = tl.arange(0, LIST)
    empty = tl.where(slot < K, NONE, -NONE) - slot  # all different
    best = tl.zeros((QUERIES, LIST), tl.int64) + empty[None, :]
    worst = tl.max(best, 1)
    x = test + query.to(tl.int64)[:, None] * PITCH + feature[None, :]
    is_query = query[:, None] < queries
    for begin in range(first, last, TARGETS):
        row = begin + target
        y = train + row.to(tl.int64)[None, :] * PITCH + feature[:, None]
        is_target = row[None, :] < last
        products = tl.zeros((QUERIES, TARGETS), tl.float32)
        for f in range(0, PITCH, FEATURES):
            left = tl.load(x + f, is_query, 0)
            products = tl.dot(left, tl.load(y + f, is_target, 0), products)
        norm = tl.load(norms + row, row < last, 0)
        keys = norm[None, :] - 2 * products.to(tl.int32)
        keys = tl.where(is_target, keys, FAR)
        nearest, place = tl.min(
            keys, 1, return_indices=True, return_indices_tie_break_left=True
        )
        key = (nearest.to(tl.int64) << 32) + begin + place
        while tl.max((key < worst).to(tl.int32), 0) > 0:
            enters = key < worst
            goes = (best == worst[:, None]) & enters[:, None]
            best = tl.where(goes, key[:, None], best)
            worst = tl.max(best, 1)
            keys = tl.where(target[None, :] == place[:, None], FAR, keys)
            nearest, place = tl.min(
                keys, 1, return_indices=True, return_indices_tie_break_left=True
            )
            key = (nearest.to(tl.int64) << 32) + begin + place
    at = (tl.program_id(1).to(tl.int64) * queries + query)[:, None] * LIST + slot[
        None, :
    ]
    tl.store(found + at, best, is_query)


class Fused(TorchPeer):
    method = "fused_f16"
    description = "fp16 tiles of 128 x 256 x 64, the k best on the way"
    dtypes = ("f32", "i32", "u8")
    units = (("f32", "f16 tensor"), ("i32", "f16 tensor"), ("u8", "f16 tensor"))

    def upload(self):
        names = ("train", "train_labels", "test")
        rows = [self.inputs[name] for name in names]
        if not neighbours.are_pixels(rows[0], rows[2]):
            raise Unsupported("takes pixels of up to 1024 features: others need fp32")
        self.k = int(self.parameters["k"])
        if self.k > MOST:
            raise Unsupported(f"k = {self.k}: lists of up to {MOST}")
        self.train, self.labels, self.test = (
            torch.from_numpy(r).to(self.cuda) for r in rows
        )

    def reset(self):
        self.results = {}

    def packed(self, rows):
        count, features = rows.shape
        pitch = -(-features // FEATURES) * FEATURES
        values = rows.new_empty(count, pitch, dtype=torch.float16)
        norms = rows.new_empty(count, dtype=torch.int32)
        block = triton.next_power_of_2(pitch)
        pack[(count,)](rows, values, norms, features, pitch, block)
        return values, norms

    def compute(self):
        (train, norms), (test, _) = self.packed(self.train), self.packed(self.test)
        queries, targets = len(test), len(train)
        tiles = -(-targets // TARGETS)
        chunk = -(-tiles // CHUNKS) * TARGETS
        chunks, size = -(-targets // chunk), triton.next_power_of_2(self.k)
        lists = norms.new_empty(chunks, queries, size, dtype=torch.int64)
        search[(-(-queries // QUERIES), chunks)](
            *(test, train, norms, lists, queries, targets, chunk),
            *(test.shape[1], self.k, size, QUERIES, TARGETS, FEATURES),
            num_warps=8,
            num_stages=3,
        )
        lists = lists.movedim(0, 1).flatten(1)
        best = torch.where(lists < -NONE.value // 2, NONE.value, lists)
        best = best.topk(self.k, largest=False).values
        rows = (self.train, self.labels, self.test, best & (2**32 - 1))
        self.results = neighbours_torch.finish(*rows, self.parameters["votes"])

    def download(self):
        return {name: value.cpu().numpy() for name, value in self.results.items()}
