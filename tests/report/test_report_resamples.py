# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Resamples of many samples: the distribution of drawing each, at a bounded cost."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from bench.report import statistics
from bench.report.resamples import drawn_medians

MANY = 150_000


def enumerated(launches):
    """Every resample, and so the exact probability of every median."""
    found, numbers = Counter(), range(len(launches))
    for picks in product(numbers, repeat=len(launches)):
        parts = [product(launches[i], repeat=len(launches[i])) for i in picks]
        drawn = [float(np.median(sum(some, ()))) for some in product(*parts)]
        for value, count in Counter(drawn).items():
            found[value] += count / len(drawn) / len(launches) ** len(launches)
    return found


@pytest.mark.parametrize(
    "launches",
    [
        [[1.0, 2.0, 4.0]],
        [[1.0, 2.0, 4.0, 8.0]],
        [[1.0, 2.0], [1.5, 2.0, 7.0]],
        [[1.0, 1.0, 2.0], [1.0]],
        [[3.0]],
    ],
)
def test_every_median_has_its_exact_probability(launches):
    rng, count = np.random.default_rng(1), 40_000
    picks = rng.integers(0, len(launches), size=(count, len(launches)))
    found = Counter(drawn_medians(launches, picks, rng).tolist())
    exact = enumerated(launches)
    assert sum(exact.values()) == pytest.approx(1) and set(found) <= set(exact)
    for value, probability in exact.items():
        spread = (probability * (1 - probability) / count) ** 0.5
        assert abs(found[value] / count - probability) <= 4 * spread + 1e-12


@pytest.mark.parametrize("counts", [(40,), (41,), (30, 20, 41), (25, 25, 25, 25)])
def test_both_ways_agree(counts, monkeypatch):
    """Quantiles of the medians by drawing every sample, and by drawing counts."""
    rng = np.random.default_rng(2)
    launches = [rng.normal(1 + 0.02 * i, 0.1, n) for i, n in enumerate(counts)]
    picks = rng.integers(0, len(counts), size=(20_000, len(counts)))
    one = statistics.resampled_medians(launches, picks, rng)
    monkeypatch.setattr(statistics, "DIRECT", 0)
    other = statistics.resampled_medians(launches, picks, rng)
    assert not np.array_equal(one, other)
    for share in (0.025, 0.25, 0.5, 0.75, 0.975):
        below = np.mean(other <= np.quantile(one, share))
        # the launches step the distribution: ties count on either side
        assert np.mean(one < np.quantile(one, share)) - 0.015 <= below
        assert below <= np.mean(one <= np.quantile(one, share)) + 0.015


def test_few_samples_are_drawn_one_by_one():
    """The figures of published tables stay as they are."""
    launches = [[1.0, 2.0, 3.0, 4.0]] * 5
    assert sum(map(len, launches)) <= statistics.DIRECT
    picks = statistics.draw_launches(5, np.random.default_rng(3))
    found = statistics.resampled_medians(launches, picks, np.random.default_rng(4))
    places = (np.random.default_rng(4).random((*picks.shape, 4)) * 4).astype(int)
    drawn = np.array([1.0, 2.0, 3.0, 4.0])[places].reshape(len(picks), -1)
    assert np.array_equal(found, np.median(drawn, axis=1))


class Counting:
    """A generator of random numbers that counts them."""

    def __init__(self):
        self.rng, self.count = np.random.default_rng(5), 0

    def random(self, shape):
        self.count += int(np.prod(shape))
        assert self.count < 1e8, "draws every sample of every resample"
        return self.rng.random(shape)

    def binomial(self, counts, shares):
        self.count += np.broadcast(counts, shares).size
        return self.rng.binomial(counts, shares)


def test_the_cost_does_not_grow_with_the_samples():
    launches = list(np.random.default_rng(6).normal(1, 0.01, (2, MANY)))
    rng = Counting()
    picks = np.tile([0, 1], (2000, 1))  # both launches in every resample
    medians = statistics.resampled_medians(launches, picks, rng)
    assert rng.count < 100 * picks.size
    # of n normal samples the median has a deviation of 1.2533 s / sqrt(n)
    assert np.std(medians) == pytest.approx(1.2533 * 0.01 / (2 * MANY) ** 0.5, rel=0.1)


def exact_rank(count):
    """By whole numbers over 2^count."""
    rank, tail, term, whole = 0, 0, 1, 2**count
    for k in range(count // 2 + 1):
        tail += term
        if 40 * tail > whole:
            break
        rank = k + 1
        term = term * (count - k) // (k + 1)
    return rank or None


def test_ranks_of_the_interval_are_exact():
    for count in (*range(400), 999, 1000, 5001):
        assert statistics.lower_rank(count) == exact_rank(count)
    # normal approximation: n/2 - 1.96 sqrt(n)/2
    assert abs(statistics.lower_rank(MANY) - (MANY / 2 - 1.96 * MANY**0.5 / 2)) <= 1


def test_ratio_of_many_samples_has_the_interval_of_theory():
    rng = np.random.default_rng(8)
    sides = [list(rng.normal(middle, 0.01, (1, MANY))) for middle in (1.0, 1.0)]
    low, high = statistics.ratio(*sides).interval
    half = 1.96 * 1.2533 * 0.01 * 2**0.5 / MANY**0.5
    assert (high - low) / 2 == pytest.approx(half, rel=0.1)
