# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton: a step is two kernels. One reads each row once: logit, loss and gradient; the other takes the step.

Rows are read as they are given, [features x rows]. A program adds in fp32, with separate sums per row of
the tile; sums of programs, theta and the stop test are in double and stay on the GPU.
"""

import torch
import triton
import triton.language as tl

from backends.python.torch_solve import TorchSolve

TILE = 4096  # values of a tile of 4 warps
MIN_ROWS, MAX_ROWS = 128, 1024  # per tile
WARPS = 16  # per multiprocessor
BLOCK = 64  # partial sums added at once


@triton.jit
def log1p(t):
    """2 atanh(t / (2 + t)) by its series, for t from 0 to 1."""
    s = t / (2 + t)
    q = s * s
    series = 1 / 9 + q * (1 / 11 + q * (1 / 13 + q / 15))
    return 2 * s * (1 + q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * series))))


@triton.jit
def accumulate(
    x,
    y,
    rows,
    theta,
    partials,
    FEATURES: tl.constexpr,
    PADDED: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Grid-stride loop over tiles. partials [features + 2 x programs]: gradient, loss."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    feature, lane = tl.arange(0, PADDED), tl.arange(0, ROWS)
    is_feature = feature < FEATURES
    intercept = tl.load(theta).to(tl.float32)
    weights = tl.load(theta + 1 + feature, is_feature, 0).to(tl.float32)
    column = x + feature.to(tl.int64)[:, None] * rows
    slopes = tl.zeros((PADDED, ROWS), tl.float32)
    residuals = tl.zeros((ROWS,), tl.float32)
    losses = tl.zeros((ROWS,), tl.float32)
    for first in range(program * ROWS, rows, programs * ROWS):
        row = first + lane
        is_row = row < rows
        values = tl.load(
            column + row[None, :], is_feature[:, None] & is_row[None, :], 0
        )
        label = tl.load(y + row, is_row, 0).to(tl.float32)
        z = tl.sum(values * weights[:, None], 0) + intercept
        t = tl.exp(-tl.abs(z))
        p = tl.where(z >= 0, 1, t) / (1 + t)
        loss = tl.maximum(z, 0) - label * z + log1p(t)
        residual = tl.where(is_row, p - label, 0)
        losses += tl.where(is_row, loss, 0)
        residuals += residual
        slopes += values * residual[None, :]
    mine = partials + program
    tl.store(mine, tl.sum(residuals, 0).to(tl.float64))
    slope = tl.sum(slopes, 1).to(tl.float64)
    tl.store(mine + (feature + 1) * programs, slope, is_feature)
    tl.store(mine + (FEATURES + 1) * programs, tl.sum(losses, 0).to(tl.float64))


@triton.jit
def descend(
    partials,
    programs,
    rows,
    rule,
    theta,
    loss,
    taken,
    FEATURES: tl.constexpr,
    SUMS: tl.constexpr,
    BLOCK: tl.constexpr,
):
    """One program adds all partials in order. taken: effective steps, submitted steps, stop flag."""
    entry, lane = tl.arange(0, SUMS), tl.arange(0, BLOCK)
    is_sum, is_theta = entry < FEATURES + 2, entry < FEATURES + 1
    sums = tl.zeros((SUMS, BLOCK), tl.float64)
    for first in range(0, programs, BLOCK):
        one = first + lane
        is_one = is_sum[:, None] & (one < programs)[None, :]
        sums += tl.load(partials + entry[:, None] * programs + one[None, :], is_one, 0)
    means = tl.sum(sums, 1) / rows
    rate, l2, tolerance = tl.load(rule), tl.load(rule + 1), tl.load(rule + 2)
    before = tl.load(theta + entry, is_theta, 0)
    weights = tl.where(entry > 0, before, 0)
    gradient = tl.where(is_theta, means + l2 * weights, 0)
    found = tl.sum(tl.where(entry == FEATURES + 1, means, 0), 0)
    found += l2 / 2 * tl.sum(weights * weights, 0)
    is_small = tl.max(tl.abs(gradient), 0) < tolerance
    counted, step, ended = tl.load(taken), tl.load(taken + 1), tl.load(taken + 2)
    last = tl.load(loss + tl.maximum(step - 1, 0))
    tl.store(loss + step, tl.where(ended == 0, found, last))
    tl.store(taken, tl.where(ended == 0, step + 1, counted))
    tl.store(taken + 1, step + 1)
    tl.store(taken + 2, tl.where(is_small, 1, ended))
    after = tl.where(ended == 0, before - rate * gradient, before)
    tl.store(theta + entry, after, is_theta)


class Fused(TorchSolve):
    method = "fused"
    description = "two kernels per step: rows read once in fp32, then the step"
    dtypes = ("f32",)
    forms = (("theta", "library"),)

    def upload(self):
        self.x = self.to_device(self.inputs["columns"])
        self.y = self.to_device(self.inputs["labels"])
        features, rows = self.x.shape
        self.hold_state([0] * (features + 1))
        self.taken = self.taken.new_empty(3)
        names = ("learning_rate", "l2", "tolerance")
        self.rule = self.theta.new_tensor([float(self.parameters[n]) for n in names])
        self.padded = max(2, triton.next_power_of_2(features))
        self.tile = min(max(TILE // self.padded, MIN_ROWS), MAX_ROWS)
        self.warps = 4 if self.padded * self.tile <= TILE else 8
        processors = torch.cuda.get_device_properties(self.cuda).multi_processor_count
        max_programs = processors * WARPS // self.warps
        self.programs = min(max_programs, triton.cdiv(rows, self.tile))
        self.partials = self.theta.new_empty(features + 2, self.programs)

    def take(self):
        features, rows = self.x.shape
        data, sizes = (self.x, self.y, rows), (features, self.padded, self.tile)
        accumulate[(self.programs,)](
            *data, self.theta, self.partials, *sizes, num_warps=self.warps
        )
        sums = triton.next_power_of_2(features + 2)
        sizes = (features, sums, BLOCK)
        state = (self.theta, self.loss, self.taken)
        descend[(1,)](self.partials, self.programs, rows, self.rule, *state, *sizes)

    def download(self):
        results = super().download()
        return {**results, "steps": results["steps"][:1].copy()}


class Graph(Fused):
    method = "graph"
    description = "the kernels of fused, captured into CUDA graphs of 100 steps"
    dtypes = ("f32",)
    execution = "graph"
