# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A data class needs its module among those that are imported."""

from __future__ import annotations

from dataclasses import dataclass

arrays = "numpy"


@dataclass
class Sum:
    factor: float = 1.0


def vector_add(a, b):
    return a + b if Sum().factor == 1.0 else None
