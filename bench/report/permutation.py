# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether curves of one kind differ from those of others: a permutation test.

R. A. Fisher, The Design of Experiments (1935); the largest statistic over all columns, so
that many columns are one test: Westfall and Young, Resampling-Based Multiple Testing (1993).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

DRAWS = 9999  # permutations, and what was measured is one more


@dataclass(frozen=True)
class Difference:
    """The largest difference of means, in standard deviations of its column."""

    column: int
    size: float  # mean of the own curves minus that of the others
    p: float


def difference(
    own: np.ndarray, others: list[np.ndarray], level: float
) -> Difference | None:
    """Curves [n x columns] against others; None where no outcome could lie below the level.

    Equal curves are one training that was carried out twice, and count once.
    """
    own = np.unique(own, axis=0)
    rest = np.unique(np.concatenate([own[:0], *others]), axis=0)
    rest = rest[~(rest[:, None] == own[None]).all(axis=2).any(axis=1)]
    if len(rest) == 0 or 2 / comb(len(own) + len(rest), len(own)) > level:
        return None
    both = np.concatenate([own, rest])
    spread = both.std(axis=0)
    scaled = (both - both.mean(axis=0)) / np.where(spread > 0, spread, 1)

    def largest(chosen: np.ndarray) -> np.ndarray:
        # the mean of the chosen is off that of all in proportion to that of the rest
        return np.asarray(np.abs(scaled[chosen].mean(axis=-2)).max(axis=-1))

    places = np.tile(np.arange(len(both)), (DRAWS, 1))
    drawn = np.random.default_rng(1).permuted(places, axis=1)[:, : len(own)]
    here = largest(np.arange(len(own)))
    beyond = np.count_nonzero(largest(drawn) >= here * (1 - 1e-12))
    column = int(np.abs(scaled[: len(own)].mean(axis=0)).argmax())
    size = float(own[:, column].mean() - rest[:, column].mean())
    return Difference(column, size, (1 + beyond) / (1 + DRAWS))
