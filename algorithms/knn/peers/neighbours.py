# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the k-NN peers that work on whole arrays; `xp` is NumPy, CuPy or jax.numpy.

Pixels are whole numbers: minus 128, their products and norms are summed exactly in f32, in any order.
Keys |y|^2 / 2 - x.y that can be among the nearest are then exact; larger ones are rounded, still in
order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

EXACT_FEATURES = 1024  # 1024 * 128^2 = 2^24: a float is exact up to there
#: 3 * 21845 * 128^2 < 2^30: |y|^2 - 2 x.y fits an int32 with a factor of two to spare.
EXACT_FEATURES_I32 = 21845
VALUES = 1 << 27  # values per block of keys, or of differences to the neighbours found
KEYS = 1 << 28  # keys per block of PyTorch and JAX


def are_pixels(*arrays: np.ndarray, features: int = EXACT_FEATURES) -> bool:
    """Whole numbers from 0 to 255, few enough features that all arithmetic is exact."""
    return arrays[0].shape[1] <= features and all(
        bool(((a >= 0) & (a <= 255) & (a == np.floor(a))).all()) for a in arrays
    )


def block_rows(columns: int, memory_bytes: int) -> int:
    """Queries per block, with 4-byte keys in a quarter of the case's memory budget (0: no limit)."""
    values = min(KEYS, memory_bytes // 16) if memory_bytes else KEYS
    return max(1, values // columns)


def packed(xp: Any, rows: Any, pixels: bool) -> Any:
    """Rows converted to f32 for the product."""
    return rows.astype(np.float32) - np.float32(128 if pixels else 0)


def nearest(xp: Any, keys: Any, k: int, train: Any, test: Any) -> Any:
    """Columns of the k smallest keys of each row, ties at the k-th by exact distance and index."""
    if k == keys.shape[1]:
        return xp.tile(xp.arange(k), (len(keys), 1))
    found = xp.argpartition(keys, k, axis=1)[:, : k + 1]
    values = xp.take_along_axis(keys, found, axis=1)
    border, found = values[:, k:], found[:, :k]
    for row in xp.flatnonzero((values[:, :k] == border).any(axis=1)).tolist():
        candidates = xp.flatnonzero(keys[row] <= border[row])
        squared = squares(xp, train[candidates], test[row])
        found[row] = candidates[xp.argsort(squared, kind="stable")[:k]]
    return found


def squares(xp: Any, train: Any, test: Any) -> Any:
    """Squared distances in double."""
    difference = train.astype(np.float64) - test.astype(np.float64)
    return xp.square(difference).sum(axis=-1)


def votes_of(xp: Any, rule: str, labels: Any, distances: Any) -> Any:
    """The label with the most votes of [rows x k] neighbours, the lowest of equal ones.

    Votes are added in the order of the neighbours, as in every variant.
    """
    if rule == "eps":
        votes = 1 / (distances + 1e-5)
    elif rule == "inverse":
        exact = distances == 0
        plain = 1 / xp.where(exact, 1, distances)
        votes = xp.where(exact.any(axis=1, keepdims=True), exact, plain)
    else:
        votes = xp.ones_like(distances)
    sums = xp.zeros_like(distances)
    for j in range(labels.shape[1]):
        sums += xp.where(labels == labels[:, j : j + 1], votes[:, j : j + 1], 0)
    winners = sums == sums.max(axis=1, keepdims=True)
    return xp.where(winners, labels, np.iinfo(np.int32).max).min(axis=1)


def in_order(
    xp: Any, train: Any, test: Any, found: Any, k: int
) -> Iterator[tuple[Any, Any]]:
    """Block by block the k nearest of [rows x k or more] neighbours by (distance in double, index), and
    their squared distances.
    """
    block = max(1, VALUES // (8 * found.shape[1] * train.shape[1]))
    for first in range(0, len(test), block):
        part = xp.sort(found[first : first + block], axis=1)
        squared = squares(xp, train[part], test[first : first + block, None])
        order = xp.argsort(squared, axis=1, kind="stable")[:, :k]
        take = xp.take_along_axis
        yield take(part, order, axis=1), take(squared, order, axis=1)


def finish(
    xp: Any, train: Any, labels: Any, test: Any, found: Any, k: int, rule: str
) -> dict[str, Any]:
    """Results from [rows x k or more] neighbours: the k nearest by (distance in double, index), their vote."""
    results: list[tuple[Any, ...]] = []
    for part, squared in in_order(xp, train, test, found, k):
        distances = xp.sqrt(squared)
        winners = votes_of(xp, rule, labels[part], distances)
        results.append((winners, part.astype(np.int64), distances))
    names = ("labels", "neighbours", "neighbour_distances")
    columns = zip(*results, strict=True)
    return {n: xp.concatenate(c) for n, c in zip(names, columns, strict=True)}


class ArrayPeer:
    """The rows as arrays of `xp`, and results from the neighbours that `compute` finds."""

    xp: Any = np  #: NumPy or CuPy
    inputs: Mapping[str, np.ndarray]
    parameters: Mapping[str, Any]

    def upload(self) -> None:
        rows = [self.inputs[name] for name in ("train", "train_labels", "test")]
        self.k = int(self.parameters["k"])
        self.pixels = are_pixels(rows[0], rows[2])
        place = getattr(self, "to_device", np.array)  # a HostPeer has none
        self.train, self.labels, self.test = map(place, rows)

    def reset(self) -> None:
        self.results: dict[str, Any] = {}

    def packed(self) -> list[Any]:
        """Training and test rows converted to f32 for the product."""
        return [packed(self.xp, rows, self.pixels) for rows in (self.train, self.test)]

    def nearest(self, keys: Any, part: slice) -> Any:
        """Columns of the k smallest keys of each of these test rows."""
        return nearest(self.xp, keys, self.k, self.train, self.test[part])

    def finish(self, found: Any) -> None:
        """Results from [rows x k or more] neighbours."""
        rows, votes = (self.train, self.labels, self.test), self.parameters["votes"]
        self.results = finish(self.xp, *rows, found, self.k, votes)

    def download(self) -> dict[str, Any]:
        to_host = getattr(self, "to_host", np.asarray)
        return {name: to_host(value) for name, value in self.results.items()}
