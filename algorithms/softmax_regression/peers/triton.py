# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton: a step is two kernels. One takes a tile of rows from logits to its gradient; the other updates.

A tile is read from memory for the logits, and again, from cache, for the gradient. Inputs are fp32.
"ieee" multiplies in fp32; "tf32x3" replaces a product by three of tf32, with little more error; "tf32"
rounds weights and residuals to 11 bits, pixels stay exact. Rows end with a constant feature, so that
biases are ordinary weights.
"""

import numpy as np
import torch
import triton
import triton.language as tl

from algorithms.softmax_regression.peers.rows import task_of
from backends.python.peer import Unsupported
from backends.python.torch_solve import TorchSolve

ROWS, FEATURES = 64, 64  # a tile
PROGRAMS = 2  # per multiprocessor
BLOCK, PART = 64, 32  # update: weights per program, partials read at once


@triton.jit
def rounded(values, PRECISION: tl.constexpr):
    """Rounds to nearest 11 bits for tf32, where tensor cores would truncate."""
    if PRECISION == "tf32":
        bits = values.to(tl.int32, bitcast=True)
        values = ((bits + 4096) & -8192).to(tl.float32, bitcast=True)
    return values


@triton.jit
def accumulate(
    x,
    labels,
    rows,
    weights,
    theta,
    rule,
    partials,
    losses,
    COUNT: tl.constexpr,
    PITCH: tl.constexpr,
    CLASSES: tl.constexpr,
    PADDED: tl.constexpr,
    ROWS: tl.constexpr,
    FEATURES: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """Grid-stride loop over tiles. partials [programs x PITCH x PADDED], losses [programs].

    The penalty of the first COUNT entries of theta is shared between the losses.
    """
    program, programs = tl.program_id(0), tl.num_programs(0)
    lane, feature = tl.arange(0, ROWS), tl.arange(0, FEATURES)
    of_class = tl.arange(0, PADDED)[None, :]
    is_class = of_class < CLASSES
    tile = feature[:, None] * PADDED + of_class
    mine = partials + program * (PITCH * PADDED)
    loss = tl.zeros((ROWS,), tl.float32)
    begin = program * ROWS
    for first in range(begin, rows, programs * ROWS):
        row = first + lane
        is_row = row < rows
        values = x + row.to(tl.int64) * PITCH
        z = tl.zeros((ROWS, PADDED), tl.float32)
        for f in range(0, PITCH, FEATURES):
            at = values[:, None] + (f + feature)[None, :]
            left = tl.load(at, is_row[:, None], 0).to(tl.float32)
            right = tl.load(weights + f * PADDED + tile)
            z = tl.dot(left, right, z, input_precision=PRECISION)
        z = tl.where(is_class, z, -float("inf"))
        z = z - tl.max(z, 1)[:, None]
        powers = tl.exp(z)
        sums = tl.sum(powers, 1)
        is_label = of_class == tl.load(labels + row, is_row, 0)[:, None]
        of_label = tl.sum(tl.where(is_label, z, 0), 1)
        loss += tl.where(is_row, tl.log(sums) - of_label, 0)
        residual = powers / sums[:, None] - tl.where(is_label, 1.0, 0.0)
        residual = rounded(tl.where(is_row[:, None], residual, 0), PRECISION)
        for f in range(0, PITCH, FEATURES):
            at = values[None, :] + (f + feature)[:, None]
            left = tl.load(at, is_row[None, :], 0).to(tl.float32)
            gradient = tl.dot(left, residual, input_precision=PRECISION)
            sums_at = mine + f * PADDED + tile
            gradient += tl.where(first > begin, tl.load(sums_at), 0)
            tl.store(sums_at, gradient)
    total = tl.sum(loss, 0).to(tl.float64) / rows
    half = tl.load(rule + 2) / 2
    for first in range(program * FEATURES, COUNT, programs * FEATURES):
        entry = first + feature
        weight = tl.load(theta + entry, entry < COUNT, 0)
        total += half * tl.sum(weight * weight, 0)
    tl.store(losses + program, total)


@triton.jit
def descend(
    partials,
    losses,
    programs,
    rows,
    rule,
    theta,
    weights,
    loss,
    taken,
    COUNT: tl.constexpr,
    SIZE: tl.constexpr,
    BLOCK: tl.constexpr,
    PART: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """A program adds its BLOCK entries of all partial gradients and updates them; the first one stores the loss."""
    entry, part = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.arange(0, PART)
    sums, found = tl.zeros((PART, BLOCK), tl.float64), tl.zeros((PART,), tl.float64)
    for first in range(0, programs, PART):
        one = first + part
        at = partials + one[:, None] * SIZE + entry[None, :]
        sums += tl.load(at, (one < programs)[:, None], 0).to(tl.float64)
        found += tl.load(losses + one, one < programs, 0)
    rate, scale, l2 = tl.load(rule), tl.load(rule + 1), tl.load(rule + 2)
    before = tl.load(theta + entry)
    gradient = tl.sum(sums, 0) * scale / rows + tl.where(entry < COUNT, l2 * before, 0)
    after = before - rate * gradient
    tl.store(theta + entry, after)
    tl.store(weights + entry, rounded((after * scale).to(tl.float32), PRECISION))
    if tl.program_id(0) == 0:
        step = tl.load(taken)
        tl.store(loss + step, tl.sum(found, 0))
        tl.store(taken, step + 1)


class Eager(TorchSolve):
    method = "tf32x3"
    description = "two kernels per step: tiles of 64 rows in tf32x3, then the update"
    dtypes = ("f32", "u8")
    units = (("f32", "tf32 tensor"), ("u8", "tf32 tensor"))
    forms = (("theta", "product"),)
    precision = "tf32x3"

    def upload(self):
        self.task = task = task_of(self)
        rows, self.features = task.rows.shape
        self.period = task.batches
        pitch = -(-(self.features + 1) // FEATURES) * FEATURES
        self.padded = max(16, triton.next_power_of_2(task.classes))
        as_bytes = self.parameters["dtype"] == "u8"
        stored = np.zeros((rows, pitch), np.uint8 if as_bytes else np.float32)
        stored[:, : self.features] = task.rows
        stored[:, self.features] = round(1 / task.scale)
        self.rows = self.to_device(stored)
        self.labels = self.to_device(task.labels)
        self.hold_state(torch.zeros(pitch, self.padded))
        self.weights = torch.empty_like(self.theta, dtype=torch.float32)
        self.rule = self.theta.new_tensor([task.rate, task.scale, task.l2])
        processors = torch.cuda.get_device_properties(self.cuda).multi_processor_count
        self.programs = min(processors * PROGRAMS, -(-task.batch // ROWS))
        self.partials = self.weights.new_empty(self.programs, pitch, self.padded)
        self.losses = self.theta.new_empty(self.programs)

    def begin(self):
        super().begin()
        self.weights.zero_()

    def rows_of(self, step):
        part = self.task.part(step)
        return self.rows[part], self.labels[part]

    def take(self, x, labels):
        rows, pitch = x.shape
        programs = min(self.programs, -(-rows // ROWS))
        penalised = self.features * self.padded if self.task.l2 else 0
        accumulate[(programs,)](
            *(x, labels, rows, self.weights, self.theta, self.rule),
            *(self.partials, self.losses, penalised, pitch, self.task.classes),
            *(self.padded, ROWS, FEATURES, self.precision),
        )
        size = pitch * self.padded
        descend[(size // BLOCK,)](
            *(self.partials, self.losses, programs, rows, self.rule),
            *(self.theta, self.weights, self.loss, self.taken),
            *(penalised, size, BLOCK, PART, self.precision),
        )

    def download(self):
        results = super().download()
        theta = results["theta"][: self.features + 1, : self.task.classes]
        return {**results, "theta": theta.copy()}


class Graph(Eager):
    method = "tf32x3_graph"
    description = "the kernels of tf32x3, captured into CUDA graphs of 100 steps"
    dtypes = ("f32", "u8")
    execution = "graph"


class Fp32(Graph):
    method = "fp32_graph"
    description = "the same in fp32, without tensor cores"
    dtypes = ("f32", "u8")
    units = (("u8", "f32"),)
    precision = "ieee"


class Tf32(Graph):
    method = "tf32_graph"
    description = "the same in tf32"
    dtypes = ("f32", "u8")
    precision = "tf32"

    def upload(self):
        super().upload()
        if not self.task.pixels:
            raise Unsupported("takes pixels, which tf32 holds exactly")
