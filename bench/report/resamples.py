# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Medians of bootstrap resamples of many samples, at a cost that hardly grows with them.

Of m samples drawn with replacement from a launch, those below a value are
Binomial(m, share of the launch below it). The two order statistics in the middle of a
resample are found by bisection over the values: each step draws only how many samples
fell into the lower half of what is left. That is the distribution of drawing every
sample, with log2(samples) numbers per launch instead of one per sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass
class Search:
    """Bisection for one order statistic in every resample."""

    rank: Ints  # [resamples], from 0, among the samples drawn in [low, high)
    low: Ints  # [resamples], a place among all values
    high: Ints
    below: Ints  # [resamples x launches]: samples of the launch below values[low]
    upto: Ints  # and below values[high]
    drawn: Ints  # samples drawn from the launch in [low, high)

    def draw(self, at: Ints, some: NDArray[np.bool_], rng: np.random.Generator) -> Ints:
        """How many fell below the middle, in some resamples; ``at`` as of ``below``."""
        left = np.zeros_like(self.drawn)
        width = np.maximum(self.upto - self.below, 1)[some]
        share = (at - self.below)[some] / width
        left[some] = rng.binomial(self.drawn[some], share)
        return left

    def halve(self, middle: Ints, at: Ints, left: Ints) -> NDArray[np.bool_]:
        """Goes on in the half that holds the rank; returns whether that is the lower."""
        total = left.sum(axis=1)
        lower: NDArray[np.bool_] = self.rank < total
        self.rank = np.where(lower, self.rank, self.rank - total)
        self.low = np.where(lower, self.low, middle)
        self.high = np.where(lower, middle, self.high)
        aside = lower[:, None]
        self.below = np.where(aside, self.below, at)
        self.upto = np.where(aside, at, self.upto)
        self.drawn = np.where(aside, left, self.drawn - left)
        return lower


def drawn_medians(
    launches: Sequence[Sequence[float]], picks: Ints, rng: np.random.Generator
) -> Floats:
    """The median of each resample; ``picks`` [resamples x launches] says of what."""
    ordered = [np.sort(np.asarray(launch, dtype=float)) for launch in launches]
    counts = np.array([len(launch) for launch in ordered])
    values = np.unique(np.concatenate(ordered))
    times = np.stack([(picks == i).sum(axis=1) for i in range(len(counts))], axis=1)
    drawn = times * counts
    total = drawn.sum(axis=1)

    def search(rank: Ints) -> Search:
        ends = np.zeros_like(total), np.full_like(total, len(values))
        shares = np.zeros_like(drawn), np.broadcast_to(counts, drawn.shape)
        return Search(rank, *ends, *shares, drawn)

    first, second = search((total - 1) // 2), search(total // 2)
    alike = np.ones(len(total), dtype=bool)  # both still search among the same samples
    everywhere = alike.copy()
    for _ in range(len(values).bit_length()):
        left, lower = np.zeros_like(drawn), everywhere
        for one in (first, second):
            middle = (one.low + one.high) // 2
            at = np.stack([np.searchsorted(o, values[middle]) for o in ordered], axis=1)
            if one is first:
                left = one.draw(at, everywhere, rng)
                lower = one.halve(middle, at, left)
            else:
                own = one.draw(at, ~alike, rng)
                other = one.halve(middle, at, np.where(alike[:, None], left, own))
                alike &= lower == other
    found: Floats = (values[first.low] + values[second.low]) / 2
    return found
