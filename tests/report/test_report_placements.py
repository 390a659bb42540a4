# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samples at several placements: their intervals by simulation, and their records."""

import math

import numpy as np
import pytest

from bench.report import placements, statistics
from bench.report.merge import load
from bench.report.placements import Placed

BETWEEN, WITHIN = 0.015, 0.005  # of placements, and of samples at one


def side(rng, count, samples=20, between=BETWEEN):
    """Samples of one launch that take so many placements in turn; the true median is 1."""
    places = [number % count for number in range(samples)]
    noise = WITHIN * rng.standard_normal(samples)
    return Placed(np.exp(between * rng.standard_normal(count)[places] + noise), places)


def pairs(seed, trials, count):
    """Null comparisons."""
    rng = np.random.default_rng(seed)
    return [([side(rng, count)], [side(rng, count)]) for _ in range(trials)]


def covered(intervals):
    """The share of the intervals that hold 1."""
    return np.mean([low <= 1 <= high for low, high in intervals])


@pytest.mark.parametrize(
    "freedom, quantile",  # from tables of Student's t
    [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (7, 2.365), (29, 2.045)],
)
def test_student_quantile(freedom, quantile):
    assert placements.student_quantile(freedom) == pytest.approx(quantile, abs=6e-4)


@pytest.mark.parametrize("count", [4, 5, 6, 8, 10, 20])
def test_null_comparisons_get_few_false_verdicts(monkeypatch, count):
    monkeypatch.setattr(statistics, "RESAMPLES", 200)
    found = [statistics.ratio(*both).interval for both in pairs(count, 1000, count)]
    assert 0.935 <= covered(found) <= 0.98  # 95 %, two standard errors less
    verdicts = [statistics.verdict(*interval) for interval in found]
    false = verdicts.count("faster") + verdicts.count("slower")
    assert false <= 0.06 * len(found)


def test_two_modes_do_not_hide_a_difference(monkeypatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 200)
    rng = np.random.default_rng(11)

    def two_modes(time):
        modes = 0.02 * rng.choice([-1, 1], 20) + 0.001 * rng.standard_normal(20)
        return [Placed(time * np.exp(modes), range(20))]

    trials = [(two_modes(1.03), two_modes(1.0)) for _ in range(300)]
    found = np.mean([statistics.ratio(*both).interval[0] > 1 for both in trials])
    by_medians = [statistics.bootstrap_ratios(*both, rng) for both in trials]
    of_medians = np.mean([statistics.percentiles(v)[0] > 1 for v in by_medians])
    assert found >= 0.95 and of_medians < 0.8
    values = [statistics.ratio(*both).value for both in trials]
    medians = [statistics.pooled(a) / statistics.pooled(b) for a, b in trials]
    assert np.std(values) < np.std(medians) / 2


def test_without_the_placements_verdicts_are_false(monkeypatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 200)
    found = [
        statistics.ratio([list(above)], [list(below)]).interval
        for (above,), (below,) in pairs(6, 400, 6)
    ]
    assert covered(found) < 0.85


def scaled_bootstrap(rng, above, below):
    """Of the mean over the placements, deviations scaled by sqrt(P / (P - 1))."""
    tops, bottoms = placements.logs(above), placements.logs(below)
    value, count = tops.mean() - bottoms.mean(), len(tops)
    picks = rng.integers(0, count, size=(2, 400, count))
    drawn = tops[picks[0]].mean(axis=1) - bottoms[picks[1]].mean(axis=1)
    deviations = (drawn - value) * math.sqrt(count / (count - 1))
    return statistics.percentiles(np.exp(value + deviations))


@pytest.mark.parametrize("count", [4, 6, 8, 10])
def test_student_covers_more_than_a_bootstrap_of_placements(count):
    trials = pairs(count, 1000, count)
    rng = np.random.default_rng(3)
    student = covered(placements.of_ratio(*both).interval() for both in trials)
    drawn = covered(scaled_bootstrap(rng, a, b) for (a,), (b,) in trials)
    assert 0.935 <= student <= 0.965 and drawn < student


def test_median_and_independent_intervals_cover(monkeypatch):
    monkeypatch.setattr(statistics, "RESAMPLES", 200)
    trials = pairs(7, 600, 6)
    medians = [statistics.median_interval(above) for above, _ in trials]
    apart = [statistics.independent_ratio(*both).interval for both in trials]
    assert covered(medians) >= 0.93 and covered(apart) >= 0.93


def test_several_launches_narrow_the_interval():
    rng = np.random.default_rng(5)
    sides = [[side(rng, 6) for _ in range(5)] for _ in range(2)]
    spread, first = (placements.of_ratio(*(some[:n] for some in sides)) for n in (5, 1))
    assert spread.freedom == 29 and first.freedom == 5
    low, high = statistics.ratio(*sides).interval
    assert low <= spread.interval()[0] and spread.interval()[1] <= high
    assert spread.scale < first.scale


def test_a_side_of_one_placement_is_compared_with_each_of_the_other():
    places = [0, 1, 2, 0, 1, 2]
    above = Placed([2.0, 4.0, 8.0] * 2, places)
    spread = placements.of_ratio([above], [[2.0] * 6])
    assert math.exp(spread.mean) == pytest.approx(2) and spread.freedom == 2
    fewer = Placed([1.0, 2.0] * 3, [0, 1] * 3)
    spread = placements.of_ratio([above], [fewer])  # the first two of both
    assert math.exp(spread.mean) == pytest.approx(2) and spread.scale == 0
    apart = placements.of_independent([above], [[2.0] * 6])
    assert math.exp(apart.mean) == pytest.approx(2) and apart.freedom == 2
    assert placements.of_ratio([[1.0] * 6], [[2.0] * 6]) is None


def test_equal_samples_have_an_interval_of_one_point():
    sides = [[Placed([1e-6] * 12, [0, 1, 2] * 4)] for _ in range(2)]
    assert statistics.ratio(*sides).interval == (1, 1)
    assert statistics.independent_ratio(*sides).interval == (1, 1)


def test_resamples_are_as_uncertain_as_the_interval():
    ((above, below),) = pairs(2, 1, 6)
    values = statistics.ratio_resamples(above, below)
    found = np.array(placements.of_ratio(above, below).interval())
    assert np.array(statistics.percentiles(values)) == pytest.approx(found, rel=5e-3)


def test_records_say_which_placement_a_sample_is_of(save, entry):
    times = [1.0, 2.0, 3.0, 1.1, 2.1, 3.1]
    rows = [
        entry("kokkos", times, placements=[0, 1, 2, 0, 1, 2]),
        entry("cuda", times, placements=[0] * 6),
        entry("hip", times),
    ]
    cases, problems = load([save(rows)])
    assert not problems
    placed, one, old = (case.launches["1"] for case in cases)
    assert placed.placements == [0, 1, 2, 0, 1, 2] and placed == one == old == times
    assert not placements.is_placed([one], [old])
    medians = np.exp(placements.logs(placed))
    assert medians == pytest.approx([1.05, 2.05, 3.05])


@pytest.mark.parametrize("places", [[0, 1], [0, 1, 2, 3, 4, -1], [0.5] * 6, "012345"])
def test_wrong_placements_are_refused(save, entry, places):
    cases, problems = load([save([entry("cuda", [1.0] * 6, placements=places)])])
    assert not cases and "placements" in problems[0]


def test_launches_keep_their_placements_when_merged(all_rows, entry):
    rng = np.random.default_rng(8)
    records = [
        (name, [entry("cuda", list(side(rng, 3, 6)), placements=[0, 1, 2] * 2)])
        for name in ("1", "2")
    ]
    (row,) = all_rows(*records)
    assert all(isinstance(some, Placed) for some in row.case.launches.values())


def test_a_verdict_needs_more_than_one_placement_that_is_fast(rows_of, entry):
    times = {"cuda": [1.00, 1.03, 1.00], "kokkos": [1.00, 1.00, 0.97]}
    places = [0, 1, 2] * 4

    def verdict(**more):
        rows = rows_of(
            [
                entry(m, np.multiply(1e-6, t * 4).tolist(), **more)
                for m, t in times.items()
            ]
        )
        return next(row.ratio.verdict for row in rows if row.ratio)

    assert verdict(placements=places) == "unresolved"
    assert verdict() in ("same", "unresolved", "faster")
