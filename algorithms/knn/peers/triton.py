# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton: tiles of products on matrix units with k-best lists, no matrix of distances.

Pixels minus 128 are exact in fp16 and in int8. Their products and norms stay within 2^24, exact in fp32
(int8: within 2^30); keys |y|^2 - 2 x.y are integers, so that order and ties are exact. A list entry is
one int64, key in the high half, row index in the low one; the largest entry is replaced.
"""

import os

import torch
import triton
import triton.language as tl

from algorithms.knn.peers import neighbours, neighbours_torch
from backends.python.gpu import TorchPeer
from backends.python.peer import Unsupported

QUERIES = 128  # per tile
CHUNK = 256  # training rows; chunks are multiples of this for every tile
LINE = 128  # bytes; alignment of the rows
WORK_ITEMS = 2048  # target number; chunks of training rows are sized for it
MAX_K = 16  # neighbours
NONE = tl.constexpr(2**62)  # an empty slot; negative: an unused slot
FAR = tl.constexpr(2**31 - 1)
BEYOND = tl.constexpr(2**30)  # above all keys: the key of an empty slot


@triton.jit
def pack(rows, packed, norms, features, PITCH: tl.constexpr, BLOCK: tl.constexpr):
    """A program takes a row: values - 128, zero padding, and the norm."""
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    mine = at < features
    values = tl.load(rows + row * features + at, mine, 128).to(tl.int32) - 128
    to = packed.dtype.element_ty
    tl.store(packed + row * PITCH + at, values.to(to), at < PITCH)
    tl.store(norms + row, tl.sum(values * values, 0))


def tile(targets, line, stages, warps):
    """Queries and training rows per tile, bytes of each per step, and pipeline stages."""
    sizes = {"QUERIES": QUERIES, "TARGETS": targets, "LINE": line}
    return triton.Config(sizes, num_warps=warps, num_stages=stages)


#: The first compute, which is not timed, autotunes; the interpreter has no clock.
TILES = [tile(256, 128, 3, 8), tile(256, 64, 4, 8), tile(128, 128, 4, 8)]
TILES = [*TILES, tile(128, 64, 4, 4)]
if os.environ.get("TRITON_INTERPRET") == "1":
    TILES = TILES[:1]


@triton.autotune(TILES, key=["targets", "FEATURES", "K"], reset_to_zero=["threshold"])
@triton.jit
def search(
    test,
    train,
    norms,
    threshold,
    found,
    queries,
    targets,
    chunk,
    FEATURES: tl.constexpr,
    PITCH: tl.constexpr,
    K: tl.constexpr,
    LIST: tl.constexpr,
    QUERIES: tl.constexpr,
    TARGETS: tl.constexpr,
    LINE: tl.constexpr,
):
    """A program takes a tile of queries and a chunk of the training rows, tile by tile, in their order.

    threshold [queries]: BEYOND - (the k-th key of a chunk), the maximum so far; initially 0.
    found [chunks x queries x LIST]: unsorted lists; unused entries are NONE.
    """
    Value: tl.constexpr = train.dtype.element_ty
    Sum: tl.constexpr = tl.int32 if Value == tl.int8 else tl.float32
    STEP: tl.constexpr = LINE * 8 // Value.primitive_bitwidth
    query = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    first = tl.program_id(1) * chunk
    last = tl.minimum(first + chunk, targets)
    feature, target = tl.arange(0, STEP), tl.arange(0, TARGETS)
    slot = tl.arange(0, LIST)
    empty = tl.where(slot < K, NONE, -NONE) - slot  # all different
    best = tl.zeros((QUERIES, LIST), tl.int64) + empty[None, :]
    worst = tl.max(best, 1)
    x = test + query.to(tl.int64)[:, None] * PITCH + feature[None, :]
    is_query = query < queries
    for begin in range(first, last, TARGETS):
        row = begin + target
        y = train + row.to(tl.int64)[None, :] * PITCH + feature[:, None]
        is_target = row[None, :] < last
        others = tl.load(
            threshold + query, is_query, 2 * BEYOND - 1, cache_modifier=".cg"
        )
        products = tl.zeros((QUERIES, TARGETS), Sum)
        for f in range(0, FEATURES, STEP):
            left = tl.load(x + f, is_query[:, None], 0)
            right = tl.load(y + f, is_target, 0)
            products = tl.dot(left, right, products, out_dtype=Sum)
        norm = tl.load(norms + row, row < last, 0)
        keys = tl.where(is_target, norm[None, :] - 2 * products.to(tl.int32), FAR)
        # Ties: the first row stays. Rows of this list come before this one, rows of
        # other chunks may not.
        limit = tl.minimum((worst >> 32).to(tl.int32), BEYOND - others + 1)
        nearest = tl.min(keys, 1)
        while tl.max((nearest < limit).to(tl.int32), 0) > 0:
            at = tl.where(keys == nearest[:, None], target[None, :], TARGETS)
            place = tl.min(at, 1)
            key = (nearest.to(tl.int64) << 32) + begin + place
            goes = (best == worst[:, None]) & (nearest < limit)[:, None]
            best = tl.where(goes, key[:, None], best)
            worst = tl.max(best, 1)
            limit = tl.minimum(limit, (worst >> 32).to(tl.int32))
            keys = tl.where(target[None, :] == place[:, None], FAR, keys)
            nearest = tl.min(keys, 1)
        mine = BEYOND - (worst >> 32).to(tl.int32)
        tl.atomic_max(
            threshold + query, mine, is_query & (mine > others), sem="relaxed"
        )
    best = tl.where(slot[None, :] < K, best, NONE)
    at = tl.program_id(1).to(tl.int64) * queries + query
    tl.store(found + at[:, None] * LIST + slot[None, :], best, is_query[:, None])


@triton.jit
def measure(
    test, train, found, squared, features, K: tl.constexpr, BLOCK: tl.constexpr
):
    """A program takes a query and one neighbour: their squared distance, from differences in double."""
    at = tl.program_id(0).to(tl.int64)
    feature = tl.arange(0, BLOCK)
    mine = feature < features
    x = tl.load(test + at // K * features + feature, mine, 0).to(tl.float64)
    y = tl.load(train + tl.load(found + at) * features + feature, mine, 0)
    difference = x - y.to(tl.float64)
    tl.store(squared + at, tl.sum(difference * difference, 0))


class Fused(TorchPeer):
    method = "fused_f16"
    description = "fp16 tiles added in fp32, k-best lists"
    dtypes = ("f32", "i32", "u8")
    units = (("f32", "f16 tensor"), ("i32", "f16 tensor"), ("u8", "f16 tensor"))
    value = torch.float16
    features = neighbours.EXACT_FEATURES

    def upload(self):
        names = ("train", "train_labels", "test")
        rows = [self.inputs[name] for name in names]
        if not neighbours.are_pixels(rows[0], rows[2], features=self.features):
            raise Unsupported(f"takes pixels of up to {self.features} features")
        self.k = int(self.parameters["k"])
        if self.k > MAX_K:
            raise Unsupported(f"k = {self.k}: lists of up to {MAX_K}")
        self.train, self.labels, self.test = (self.to_device(r) for r in rows)

    def reset(self):
        self.results = {}

    def packed(self, rows):
        """Rows minus 128, aligned to LINE, and their norms."""
        count, features = rows.shape
        line = LINE // self.value.itemsize
        pitch = -(-features // line) * line
        values = rows.new_empty(count, pitch, dtype=self.value)
        norms = rows.new_empty(count, dtype=torch.int32)
        block = triton.next_power_of_2(pitch)
        pack[(count,)](rows, values, norms, features, pitch, block)
        return values, norms

    def searched(self):
        """The k nearest of each query, by (distance, index): i64 [queries x k]"""
        (train, norms), (test, _) = self.packed(self.train), self.packed(self.test)
        queries, targets = len(test), len(train)
        parts = -(-targets // CHUNK)
        tiles = -(-queries // QUERIES)
        chunks = max(1, min(parts, WORK_ITEMS // tiles))
        chunk = -(-parts // chunks) * CHUNK
        chunks, size = -(-targets // chunk), triton.next_power_of_2(self.k)
        lists = norms.new_empty(chunks, queries, size, dtype=torch.int64)
        threshold = norms.new_zeros(queries)
        sizes = (self.train.shape[1], train.shape[1], self.k, size)
        search[(tiles, chunks)](
            test, train, norms, threshold, lists, queries, targets, chunk, *sizes
        )
        lists = lists.movedim(0, 1).flatten(1)
        return lists.topk(self.k, largest=False).values & (2**32 - 1)

    def compute(self):
        found = self.searched().sort(1).values
        squared = found.new_empty(found.shape, dtype=torch.float64)
        features = self.train.shape[1]
        sizes = (features, self.k, triton.next_power_of_2(features))
        measure[(found.numel(),)](self.test, self.train, found, squared, *sizes)
        votes = self.parameters["votes"]
        self.results = neighbours_torch.voted(self.labels, found, squared, votes)

    def download(self):
        return {name: self.to_host(value) for name, value in self.results.items()}


class FusedInt8(Fused):
    method = "fused_i8"
    description = "int8 tiles added in int32, k-best lists"
    dtypes = ("f32", "i32", "u8")
    units = (("f32", "u8 tensor"), ("i32", "u8 tensor"), ("u8", "u8 tensor"))
    value = torch.int8
    features = neighbours.EXACT_FEATURES_I32
