# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Non-negative parameters from few times, each draw from other samples and another starting point.

Every draw minimises |(A x - y) / (sigma y)|^2 + |(x - x0) / scale|^2 over x >= 0: y is a
bootstrap resample, x0 a point drawn from what the parameters may be (randomise, then
optimise; J. Bardsley and others, SIAM J. Sci. Comput. 36, 2014). Parameters that the times determine
hardly depend on x0; the others keep the spread of x0, which widens the interval.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from bench.report.statistics import Floats

REPEAT = (
    0.01  # relative difference of the medians of two runs: launches, clocks, placement
)


def non_negative(matrix: Floats, right: Floats) -> Floats:
    """Minimises z G z - 2 r z over z >= 0 for every r: the best of all sets of parameters above zero.

    ``matrix``: G, positive definite [n x n]; ``right``: [draws x n], n of a few.
    """
    draws, count = right.shape
    best = np.zeros((draws, count))
    minimum = np.zeros(draws)  # of z = 0
    for chosen in product((False, True), repeat=count):
        some = np.flatnonzero(chosen)
        if not len(some):
            continue
        part = right[:, some]
        found = np.linalg.solve(matrix[np.ix_(some, some)], part.T).T
        value = -(part * found).sum(axis=1)
        better = (found >= 0).all(axis=1) & (value < minimum)
        minimum[better] = value[better]
        best[better] = 0
        best[np.ix_(better, some)] = found[better]
    return best


def parameters(
    rows: Floats, times: Floats, resampled: Floats, start: Floats, scale: Floats
) -> Floats:
    """The parameters of every draw [draws x n].

    ``rows``: [times x n]; ``times``: [times] their medians; ``resampled``: [draws x times];
    ``start``: x0 [draws x n]; ``scale``: [n], above zero.
    """
    weighted = rows * scale / (REPEAT * times[:, None])
    wanted = resampled / (REPEAT * times)
    matrix = weighted.T @ weighted + np.eye(len(scale))
    return non_negative(matrix, wanted @ weighted + start / scale) * scale


def misfit(rows: Floats, times: Floats, found: Floats) -> float:
    """Root mean square of the relative errors that the draws leave on average."""
    errors = np.median(found @ rows.T, axis=0) / times - 1
    return float(np.sqrt(np.mean(errors**2)))
