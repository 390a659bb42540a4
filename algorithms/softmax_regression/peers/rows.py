# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs and parameters shared by the peers of softmax regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Task:
    """Pixels stay whole numbers; the weights are scaled by 1 / 255 instead."""

    rows: np.ndarray  #: f32 [rows x features]
    labels: np.ndarray  #: i32 [rows]
    classes: int
    pixels: bool
    scale: float  #: factor of a feature
    batch: int  #: rows per step
    steps: int
    rate: float
    l2: float

    @property
    def batches(self) -> int:
        """Steps per pass over all rows."""
        return -(-len(self.labels) // self.batch)

    def part(self, step: int) -> slice:
        """Rows of a step."""
        first = step % self.batches * self.batch
        return slice(first, min(first + self.batch, len(self.labels)))


def task_of(peer: Any) -> Task:
    """From the inputs and parameters of a peer."""
    train, labels = peer.inputs["train"], peer.inputs["train_labels"]
    both = (labels, peer.inputs["test_labels"])
    largest = max(int(of.max()) for of in both if of.size)
    pixels = train.dtype == np.uint8
    parameters = peer.parameters
    return Task(
        rows=train.astype(np.float32),
        labels=labels.copy(),
        classes=int(parameters.get("classes", largest + 1)),
        pixels=pixels,
        scale=1 / 255 if pixels else 1.0,
        batch=min(int(parameters["batch"]) or len(labels), len(labels)),
        steps=int(parameters["steps"]),
        rate=float(parameters["learning_rate"]),
        l2=float(parameters["l2"]),
    )
