# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of distance_matrix against differences in double, within the bound of their form."""

import numpy as np
import pytest
from peer_support import NUMPY_TYPES, Variant, peer_of, run, variants


def roots(squares: np.ndarray, bound: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distances, and their errors from those of the squares."""
    values, above = np.sqrt(squares), np.sqrt(squares + bound)
    below = np.sqrt(np.maximum(squares - bound, 0))
    return values, np.maximum(above - values, values - below)


@pytest.mark.parametrize("metric", ["euclidean", "squared"])
@pytest.mark.parametrize(("n", "dimension"), [(1, 1), (2, 3), (131, 3), (200, 70)])
@pytest.mark.parametrize("variant", variants("distance_matrix"))
def test_distances(variant: Variant, n: int, dimension: int, metric: str):
    dtype = NUMPY_TYPES[variant[2]]
    points = np.random.default_rng(n).random((n, dimension)).astype(dtype)
    points[-1] = points[0]  # a distance of 0 beside the diagonal
    found = run(variant, "distance_matrix", {"points": points}, metric=metric)
    found, x = found["distances"], points.astype(float)
    squares = np.square(x[:, None] - x[None]).sum(2)
    expanded = peer_of("distance_matrix", *variant[:2]).forms
    norms = np.square(x).sum(1)
    magnitudes = norms[:, None] + norms if expanded else squares
    eps = np.finfo(dtype).eps
    wanted, bound = squares, (dimension + 4) * eps * magnitudes
    if metric == "euclidean":
        wanted, bound = roots(squares, bound)
        bound = bound + eps * (wanted + bound)
    assert found.dtype == dtype
    assert found.shape == (n, n)
    assert (np.abs(found - wanted) <= bound).all()
    assert (np.diagonal(found) == 0).all()
    if not expanded:
        assert (found == found.T).all()
