# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Medians, their intervals, ratios of medians, and the verdict.

Samples of one program launch are correlated (allocation, clocks, placement), so the
bootstrap draws launches first and the samples inside each drawn launch second. Of samples
at several placements, placements.py has the ratios; the interval of a median covers its too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from . import placements
from .options import MARGIN
from .placements import Launches, Spread
from .resamples import drawn_medians

CONFIDENCE = 95  # per cent
NORMAL = 1.959963984540054  # half of a 95 % interval in standard errors
MIN_SAMPLES = 6  # no distribution-free 95 % interval of a median exists below
RESAMPLES = 2000
SEED = 20240229
BLOCK = 1 << 21  # numbers held at once
DIRECT = 1000  # samples of a case up to which resamples draw each of them: the numbers
# of published tables; of more samples only the counts are drawn, see resamples.py

Interval = tuple[float, float]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A figure and its 95 % interval; no interval where the samples are too few."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def interval(self) -> Interval:
        """Low and high. @pre there are samples enough"""
        assert self.low is not None and self.high is not None
        return self.low, self.high


def standard_error(estimate: Estimate) -> float:
    """Of its logarithm, as its 95 % interval says. @pre it has one"""
    low, high = estimate.interval
    return math.log(high / low) / (2 * NORMAL)


def pooled(launches: Launches) -> float:
    """The median of the samples of all launches."""
    return median(list(chain.from_iterable(launches)))


def median(samples: Sequence[float]) -> float:
    """The median; of an even number, the mean of the two in the middle."""
    return float(np.median(np.asarray(samples, dtype=float)))


@cache
def lower_rank(count: int) -> int | None:
    """The largest k (from 1) for which [x_k, x_(count+1-k)] covers 95 %, else None.

    The median lies below x_k with P(Binomial(count, 1/2) < k), and above likewise.
    """
    below = np.arange(count // 2)  # logarithms: 2^count is beyond any float
    steps = np.log((count - below) / (below + 1))
    terms = np.concatenate([[0.0], np.cumsum(steps)]) - count * math.log(2)
    tails = np.cumsum(np.exp(terms))
    rank = int(np.searchsorted(tails, (100 - CONFIDENCE) / 200, side="right"))
    return rank or None


def order_interval(samples: Sequence[float]) -> Interval | None:
    """Distribution-free 95 % interval of the median from order statistics."""
    rank = lower_rank(len(samples))
    if rank is None:
        return None
    ordered = np.sort(np.asarray(samples, dtype=float))
    return float(ordered[rank - 1]), float(ordered[-rank])


def resampled_medians(
    launches: Launches, picks: NDArray[np.int64], rng: np.random.Generator
) -> Floats:
    """The median of each resample; ``picks`` [resamples x launches] says of what.

    Launches may differ in length: the surplus is infinite and sorts to the end.
    """
    counts = np.array([len(launch) for launch in launches])
    if counts.sum() > DIRECT:
        return drawn_medians(launches, picks, rng)
    table = np.full((len(launches), counts.max()), np.inf)
    for row, launch in zip(table, launches):
        row[: len(launch)] = launch
    medians = []
    for some in np.array_split(
        picks, picks.shape[1] * counts.max() * len(picks) // BLOCK + 1
    ):
        drawn = counts[some][..., None]
        places = (rng.random((*some.shape, counts.max())) * drawn).astype(int)
        values = table[some[..., None], places]
        values[np.broadcast_to(np.arange(counts.max()) >= drawn, values.shape)] = np.inf
        values = np.sort(values.reshape(len(some), -1), axis=1)
        total, row = drawn.sum(axis=(1, 2)), np.arange(len(some))
        medians.append((values[row, (total - 1) // 2] + values[row, total // 2]) / 2)
    return np.concatenate(medians)


def draw_launches(count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Numbers of the launches in each resample [resamples x count]."""
    return rng.integers(0, count, size=(RESAMPLES, count))


def percentiles(values: Floats) -> Interval:
    """The percentile interval of bootstrap values."""
    tail = (100 - CONFIDENCE) / 2
    low, high = np.percentile(values, [tail, 100 - tail])
    return float(low), float(high)


def joined(first: Interval, second: Interval) -> Interval:
    """The interval that covers both."""
    return min(first[0], second[0]), max(first[1], second[1])


def median_interval(launches: Launches) -> Interval | None:
    """95 % interval of the median; None below six samples.

    Of one launch, by order statistics. Samples of several launches are not independent, so
    the interval then also covers that of the launch bootstrap; those of several placements
    neither: it covers Student's too.
    """
    interval = order_interval([sample for launch in launches for sample in launch])
    if interval is None:
        return None
    if len(launches) > 1:
        rng = np.random.default_rng(SEED)
        picks = draw_launches(len(launches), rng)
        bootstrap = percentiles(resampled_medians(launches, picks, rng))
        interval = joined(interval, bootstrap)
    if spread := placements.of_median(launches):
        interval = joined(interval, spread.interval())
    return interval


def ratio_resamples(above: Launches, below: Launches) -> Floats:
    """Bootstrap values of median(above) / median(below) [resamples].

    @pre both sides hold the same launches in the same order: a drawn launch is drawn
    for both, so that what differs between launches (the node, its clocks) cancels.
    Of samples at several placements, values as uncertain as these.
    """
    rng = np.random.default_rng(SEED)
    if spread := placements.of_ratio(above, below):
        return spread.draws(RESAMPLES, rng)
    return bootstrap_ratios(above, below, rng)


def bootstrap_ratios(
    above: Launches, below: Launches, rng: np.random.Generator
) -> Floats:
    """By launches and their samples, without regard to placements; the reference is drawn first."""
    picks = draw_launches(len(above), rng)
    bottoms = resampled_medians(below, picks, rng)
    return resampled_medians(above, picks, rng) / bottoms


def estimated(
    above: Launches,
    below: Launches,
    spread: Spread | None,
    bootstrap: Callable[[], Floats],
) -> Estimate:
    """median(above) / median(below), by the bootstrap; of placements their mean, by Student's t.

    Without an interval where a side has too few samples.

    Times at several placements often have two modes; then the median is one or the other
    by chance, and the mean of the logarithms is not.
    """
    value = math.exp(spread.mean) if spread else pooled(above) / pooled(below)
    if not (enough(above) and enough(below)):
        return Estimate(value)
    return Estimate(value, *(spread.interval() if spread else percentiles(bootstrap())))


def ratio(above: Launches, below: Launches) -> Estimate:
    """above / below. @pre as of ratio_resamples"""
    return estimated(
        above,
        below,
        placements.of_ratio(above, below),
        lambda: bootstrap_ratios(above, below, np.random.default_rng(SEED)),
    )


def independent_ratio(above: Launches, below: Launches) -> Estimate:
    """The same for sides that share no launch: each draws its own."""

    def bootstrap() -> Floats:
        rng = np.random.default_rng(SEED)
        bottoms = resampled_medians(below, draw_launches(len(below), rng), rng)
        tops = resampled_medians(above, draw_launches(len(above), rng), rng)
        return tops / bottoms

    return estimated(above, below, placements.of_independent(above, below), bootstrap)


def verdict(low: float, high: float, margin: float = MARGIN) -> str:
    """From the interval of a time over its reference: above 1, it is slower.

    ``same``: the whole interval lies within the margin, [1 / (1 + margin), 1 + margin].
    Else ``faster`` or ``slower`` when it excludes 1, else ``unresolved``.
    """
    if low >= 1 / (1 + margin) and high <= 1 + margin:
        return "same"
    if low > 1:
        return "slower"
    return "faster" if high < 1 else "unresolved"


def enough(launches: Launches) -> bool:
    """Whether there are enough samples for an interval."""
    return sum(len(launch) for launch in launches) >= MIN_SAMPLES
