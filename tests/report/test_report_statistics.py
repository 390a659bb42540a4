# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statistics against values worked out by hand, and their coverage by simulation."""

import numpy as np
import pytest

from bench.report import statistics
from bench.report.ratios import judge


def test_median():
    assert statistics.median([3, 1, 2]) == 2
    assert statistics.median([4, 1, 2, 3]) == 2.5


@pytest.mark.parametrize(
    "count, low, high",
    # from tables of the binomial distribution
    [
        (6, 1, 6),
        (7, 1, 7),
        (8, 1, 8),
        (9, 2, 8),
        (10, 2, 9),
        (15, 4, 12),
        (20, 6, 15),
        (30, 10, 21),
    ],
)
def test_order_interval(count, low, high):
    samples = list(range(count, 0, -1))
    assert statistics.order_interval(samples) == (low, high)


@pytest.mark.parametrize("count", range(6))
def test_no_interval_below_six_samples(count):
    assert statistics.lower_rank(count) is None
    assert statistics.median_interval([[1.0] * count]) is None


def test_rank_of_many_samples_stays_exact():
    # normal approximation: n/2 - 1.96 sqrt(n)/2
    assert abs(statistics.lower_rank(10_000) - (5000 - 98)) <= 1


def lognormal(rng, count):
    return np.exp(0.03 * rng.standard_normal(count))


@pytest.mark.parametrize("count", [6, 10, 20])
def test_order_interval_covers_the_median(count):
    rng = np.random.default_rng(7)
    hits = 0
    for _ in range(1000):
        low, high = statistics.order_interval(lognormal(rng, count))
        hits += low <= 1 <= high
    assert hits >= 940  # 95 % less three standard errors of the simulation


def test_ratio_interval_covers_the_ratio(monkeypatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 400)
    rng, hits = np.random.default_rng(8), 0
    for _ in range(300):
        native, portable = 1.1 * lognormal(rng, 10), lognormal(rng, 10)
        low, high = statistics.ratio([native], [portable]).interval
        hits += low <= 1.1 <= high
    assert hits >= 274  # 95 % less three standard errors


def test_ratio_interval_is_reproducible():
    rng = np.random.default_rng(9)
    sides = [[lognormal(rng, 8), lognormal(rng, 12)] for _ in range(2)]
    assert statistics.ratio(*sides).interval == statistics.ratio(*sides).interval


def test_resampled_medians_of_launches_of_different_length():
    launches = [[1.0], [5.0, 5.0, 5.0]]
    rng = np.random.default_rng(1)
    picks = np.array([[0, 0], [1, 1], [0, 1]])
    medians = statistics.resampled_medians(launches, picks, rng)
    assert list(medians) == [1.0, 5.0, 5.0]


def test_resamples_in_blocks_are_resamples(monkeypatch):
    launches, rng = [[1.0, 2.0, 3.0]] * 2, np.random.default_rng(1)
    monkeypatch.setattr(statistics, "BLOCK", 64)
    picks = statistics.draw_launches(2, rng)
    medians = statistics.resampled_medians(launches, picks, rng)
    assert len(medians) == statistics.RESAMPLES
    assert set(medians) <= {1.0, 1.5, 2.0, 2.5, 3.0}


def test_launches_that_differ_widen_the_interval():
    noise = 1 + 1e-4 * np.random.default_rng(2).standard_normal((3, 20))
    alike = statistics.median_interval(list(noise))
    apart = statistics.median_interval(list(noise * [[1.0], [1.1], [1.2]]))
    assert alike[1] - alike[0] < 0.001
    assert apart[0] < 1.01 and apart[1] > 1.19


def test_launches_cancel_in_the_ratio_when_both_sides_share_them():
    speed = [[1.0], [1.5], [2.0]]
    noise = 1 + 1e-4 * np.random.default_rng(3).standard_normal((2, 3, 20))
    low, high = statistics.ratio(*(list(side) for side in noise * speed)).interval
    assert 0.99 < low < 1 < high < 1.01


@pytest.mark.parametrize(
    "low, high, expected",
    [
        (0.99, 1.01, "same"),
        (1.002, 1.008, "same"),  # clearly slower, by less than the margin
        (1.01, 1.05, "slower"),
        (0.90, 0.97, "faster"),
        (0.98, 1.03, "unresolved"),
        (0.5, 1.5, "unresolved"),
    ],
)
def test_verdict(low, high, expected):
    assert statistics.verdict(low, high, 0.02) == expected


@pytest.mark.parametrize(
    "value, low, high, expected",
    [
        (1.03, 1.01, 1.05, "slower"),
        (0.97, 0.95, 0.99, "faster"),
        (0.99, 1.01, 1.05, "unresolved"),  # the interval does not hold the figure
        (1.01, 0.95, 0.99, "unresolved"),
        (1.00, 0.99, 1.01, "same"),
        (1.00, None, None, ""),
    ],
)
def test_the_word_never_contradicts_the_figure(value, low, high, expected):
    assert judge(statistics.Estimate(value, low, high), 0.02) == expected


def test_verdict_is_fair_when_the_sides_are_swapped():
    opposite = {"faster": "slower", "slower": "faster"}
    for low, high in [(1 / 1.02, 1.02), (0.985, 1.0199), (1.001, 1.03), (0.9, 0.99)]:
        there = statistics.verdict(low, high)
        assert statistics.verdict(1 / high, 1 / low) == opposite.get(there, there)


def test_a_against_a_is_the_same():
    rng = np.random.default_rng(4)
    for _ in range(20):
        sides = [[1 + 0.005 * rng.standard_normal(20) for _ in range(5)] for _ in "AA"]
        assert statistics.verdict(*statistics.ratio(*sides).interval) == "same"


def test_independent_interval_covers_the_ratio(monkeypatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 400)
    rng, hits = np.random.default_rng(5), 0
    for _ in range(300):
        above, below = 1.1 * lognormal(rng, 10), lognormal(rng, 12)
        low, high = statistics.independent_ratio([above], [below]).interval
        hits += low <= 1.1 <= high
    assert hits >= 274  # 95 % less three standard errors


def test_launches_that_are_not_shared_widen_the_ratio():
    speed = np.array([[1.0], [1.1], [1.2]])
    noise = 1 + 1e-4 * np.random.default_rng(3).standard_normal((2, 3, 20))
    sides = [list(side) for side in noise * speed]
    shared = statistics.ratio(*sides).interval
    apart = statistics.independent_ratio(*sides).interval
    assert shared[1] - shared[0] < 0.01
    assert apart[0] < 0.92 and apart[1] > 1.08


def test_resamples_of_a_ratio_have_its_interval():
    sides = [[[1.0, 2.0, 3.0] * 4], [[2.0, 4.0, 6.0] * 4]]
    values = statistics.ratio_resamples(*sides)
    assert len(values) == statistics.RESAMPLES
    assert statistics.percentiles(values) == statistics.ratio(*sides).interval
