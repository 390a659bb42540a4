# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the peers of linear regression are made from: the same in all of them."""

from __future__ import annotations

from typing import Any

import numpy as np


def training_rows(points: int) -> int:
    """How many rows are for training: the first 80 % of the points."""
    return points * 4 // 5


def start_of(peer: Any) -> np.ndarray:
    """theta before the first step, bias last: f64 [features + 1]."""
    study = peer.parameters["start"] == "study"
    weight, bias = (0.83, 0.7645) if study else (0.0, 0.0)
    return np.array([weight] * len(peer.inputs["x"]) + [bias])
