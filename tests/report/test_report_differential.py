# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Statistics of the report against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from bench.report import permutation, portability, statistics


def test_ranks_are_those_of_the_binomial_test():
    for count in [*range(6, 200), 999, 1000, 5001]:
        samples = np.random.default_rng(count).permutation(count).astype(float)
        theirs = stats.quantile_test(samples, p=0.5).confidence_interval(0.95)
        assert statistics.order_interval(samples) == (theirs.low, theirs.high)


@pytest.mark.parametrize("seed", range(5))
def test_intervals_of_ratios_are_those_of_the_bootstrap(seed):
    rng = np.random.default_rng(seed)
    above, below = np.exp(0.05 * rng.standard_normal((2, 40)))
    ours = statistics.independent_ratio([list(above)], [list(below)]).interval
    theirs = stats.bootstrap(
        (above, below),
        lambda a, b, axis: np.median(a, axis) / np.median(b, axis),
        method="percentile",
        n_resamples=20_000,
        rng=seed,
    ).confidence_interval
    width = (
        theirs.high - theirs.low
    )  # of 2000 resamples an end is off by a few per cent
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.15 * width)


@pytest.mark.parametrize("shift", [0.0, 1.0, 2.0])
def test_permutations_of_one_column_are_those_of_the_exact_test(shift):
    rng = np.random.default_rng(3)
    own, rest = rng.standard_normal(5) + shift, rng.standard_normal(7)
    ours = permutation.difference(own[:, None], [rest[:, None]], 0.5)
    theirs = stats.permutation_test(
        (own, rest),
        lambda a, b: abs(a.mean() - b.mean()),
        n_resamples=np.inf,
        alternative="greater",
    ).pvalue
    draws = (theirs * (1 - theirs) / permutation.DRAWS) ** 0.5
    assert ours.p == pytest.approx(theirs, abs=5 * draws + 1 / permutation.DRAWS)


def test_performance_portability_is_the_harmonic_mean():
    rng = np.random.default_rng(1)
    for count in range(1, 20):
        names = tuple(map(str, range(count)))
        efficiencies = dict(zip(names, rng.uniform(0.01, 1, count), strict=True))
        score = portability.score(efficiencies, names)
        assert score.pp == pytest.approx(
            stats.hmean(list(efficiencies.values())), rel=1e-14
        )
        assert portability.score(efficiencies, (*names, "one more")).pp == 0
