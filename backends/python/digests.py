# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Digests of results: the same number for the same bits (`digest` of backends/host_memory.hpp)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

WORDS = 1 << 16  #: at a time: they stay in a cache
STEP = 0x9E3779B97F4A7C15
MASK = (1 << 64) - 1


def mixed(words: np.ndarray, first: int) -> int:
    """The sum of `digest_of(words[i], first + i)`: SplitMix64's finaliser. Changes ``words``, of uint64."""
    start = np.array([(first + 1) * STEP & MASK], np.uint64)
    words += np.arange(len(words), dtype=np.uint64) * np.uint64(STEP) + start
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words ^= words >> np.uint64(shift)
        words *= np.uint64(factor)
    words ^= words >> np.uint64(31)
    return int(np.add.reduce(words, dtype=np.uint64))


def digest(values: np.ndarray) -> int:
    """Of the bytes in row-major order, as words of 8 bytes with zeros behind the last."""
    content = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    total, step = 0, WORDS * 8
    for begin in range(0, len(content), step):
        part = content[begin : begin + step]
        words = np.zeros(-(-len(part) // 8), np.uint64)
        words.view(np.uint8)[: len(part)] = part
        total += mixed(words, begin // 8)
    return total & MASK


def digest_of_all(results: Iterable[np.ndarray]) -> int:
    """Of several arrays in their order: another number where two are exchanged."""
    each = [digest(values) for values in results]
    return mixed(np.array(each, np.uint64), 0)
