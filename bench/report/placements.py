# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samples at several placements of a variant's arrays, and the intervals of their figures.

Short kernels on data in the last-level cache are sampled at several placements
(bench/measure/placements.hpp). Samples at one placement are not independent: what its
addresses cost is in each of them. The units are therefore the placements, and the interval
is Student's, of the logarithms of their medians. Resampling so few units instead gives
intervals that are too narrow (tests/report/test_report_placements.py compares them).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Launches = Sequence[Sequence[float]]
PROBABILITY = 0.95  # that the interval covers the figure


class Placed(list[float]):
    """The samples [s] of one program launch, and the placement of each."""

    def __init__(self, samples: Iterable[float], placements: Sequence[int]) -> None:
        super().__init__(samples)
        self.placements = placements


def logs(samples: Sequence[float]) -> Floats:
    """Logarithms of the medians of the placements of one launch, in their order."""
    if not isinstance(samples, Placed):
        return np.log([np.median(samples)])
    places, values = np.array(samples.placements), np.array(samples)
    return np.log([np.median(values[places == place]) for place in np.unique(places)])


@dataclass(frozen=True)
class Spread:
    """The logarithm of a figure as Student's t: location, scale, degrees of freedom."""

    mean: float
    scale: float
    freedom: int

    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the figure."""
        half = self.scale * student_quantile(self.freedom)
        return math.exp(self.mean - half), math.exp(self.mean + half)

    def draws(self, count: int, rng: np.random.Generator) -> Floats:
        """Values of the figure as uncertain as the interval says [count]."""
        drawn: Floats = np.exp(
            self.mean + self.scale * rng.standard_t(self.freedom, count)
        )
        return drawn


def is_placed(*sides: Launches) -> bool:
    """Whether any launch of any side has samples at several placements."""
    return any(isinstance(samples, Placed) for side in sides for samples in side)


def spread(*terms: Floats) -> Spread:
    """Of the sum of the means of independent terms, of which some have several values.

    Degrees of freedom: Welch (1947) and Satterthwaite (1946), rounded down.
    """
    several = [term for term in terms if len(term) > 1]
    variances = [float(term.var(ddof=1)) / len(term) for term in several]
    total, mean = sum(variances), math.fsum(float(term.mean()) for term in terms)
    freedom = min(len(term) - 1 for term in several)  # the least that Welch's can be
    if total > 0:
        parts = (v**2 / (len(term) - 1) for v, term in zip(variances, several))
        freedom = max(freedom, int(total**2 / math.fsum(parts) + 1e-9))
    return Spread(mean, math.sqrt(total), freedom)


def of_median(launches: Launches) -> Spread | None:
    """Of the median of these samples; None where no launch has several placements."""
    if not is_placed(launches):
        return None
    return spread(np.concatenate([logs(samples) for samples in launches]))


def of_ratio(above: Launches, below: Launches) -> Spread | None:
    """Of median(above) / median(below), whose launches are the same; or None.

    In each launch the placements of both sides are paired in their order; a side that has
    one placement is compared with each of the other's.
    """
    if not is_placed(above, below):
        return None
    return spread(np.concatenate([paired(*both) for both in zip(above, below)]))


def paired(above: Sequence[float], below: Sequence[float]) -> Floats:
    """Logarithms of the ratios in one launch; where both have several placements, of those
    that both have."""
    tops, bottoms = logs(above), logs(below)
    if min(len(tops), len(bottoms)) > 1:
        count = min(len(tops), len(bottoms))
        tops, bottoms = tops[:count], bottoms[:count]
    return tops - bottoms


def of_independent(above: Launches, below: Launches) -> Spread | None:
    """The same for sides that share no launch."""
    if not is_placed(above, below):
        return None
    tops, bottoms = (np.concatenate([logs(one) for one in s]) for s in (above, below))
    return spread(tops, -bottoms)


def probability(angle: float, freedom: int) -> float:
    """That \\|t\\| is at most tan(angle) sqrt(freedom); Abramowitz and Stegun 26.7.3, 26.7.4."""
    odd, cosine = freedom % 2 == 1, math.cos(angle)
    term = cosine if odd else 1.0
    total = 0.0 if freedom == 1 else term
    for i in range(3 if odd else 2, freedom, 2):
        term *= cosine**2 * (i - 1) / i
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total


@cache
def student_quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, by bisection."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        if probability(middle, freedom) < PROBABILITY:
            low = middle
        else:
            high = middle
    return math.tan(low) * math.sqrt(freedom)
