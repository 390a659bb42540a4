# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of k-NN against brute force in integers, straight from the rules of the problem."""

import numpy as np
import pytest
from peer_support import NUMPY_TYPES, Variant, run, variants

from algorithms.knn.peers import neighbours
from backends.python.peer import Unsupported

VARIANTS = variants("knn")
INT8 = [v for v in VARIANTS if v.values[0][1].endswith("i8")]
FLOATS = [v for v in VARIANTS if v.values[0][2] == "f32"]


def only_pixels(variant):
    return variant.values[0][1] in ("tf32", "i8", "fused_f16", "fused_i8")


def classify(train, labels, test, k, votes):
    """(labels, neighbours, distances) in double; pixels have exact squares."""
    results = []
    for x in test.astype(float):
        squared = ((train.astype(float) - x) ** 2).sum(1)
        order = sorted(range(len(train)), key=lambda row: (squared[row], row))[:k]
        distances = np.sqrt(squared[order])
        sums: dict[int, float] = {}
        for row, distance in zip(order, distances, strict=True):
            vote = 1.0
            if votes == "eps":
                vote = 1 / (distance + 1e-5)
            elif votes == "inverse":
                at_zero = distances[0] == 0
                vote = float(distance == 0) if at_zero else 1 / distance
            sums[labels[row]] = sums.get(labels[row], 0.0) + vote
        max_votes = max(sums.values())
        winner = min(label for label, votes in sums.items() if votes == max_votes)
        results.append((winner, order, distances))
    return [np.array(column) for column in zip(*results, strict=True)]


def check(variant, train, labels, test, k=3, votes="eps"):
    dtype = NUMPY_TYPES[variant[2]]
    arrays = (train.astype(dtype), np.array(labels, np.int32), test.astype(dtype))
    inputs = dict(zip(("train", "train_labels", "test"), arrays, strict=True))
    found = run(variant, "knn", inputs, k=k, votes=votes)
    wanted = classify(*arrays, k, votes)
    types = {"labels": "i4", "neighbours": "i8", "neighbour_distances": "f8"}
    assert {name: value.dtype.str[1:] for name, value in found.items()} == types
    for name, right in zip(types, wanted, strict=True):
        np.testing.assert_array_equal(found[name], right, err_msg=name)


def pixels(seed, train, test, features, levels):
    """Few grey levels, so that many distances are equal; every 7th row is a copy of the one before it."""
    random = np.random.default_rng(seed)
    values = random.integers(0, levels, (train + test, features)) * (255 // levels)
    values[6:train:7] = values[5 : train - 1 : 7]
    values[train::5] = values[: len(values[train::5])]  # at distance 0
    return values[:train], random.integers(-2, 5, train), values[train:]


@pytest.mark.parametrize("votes", ["eps", "inverse", "uniform"])
@pytest.mark.parametrize(
    ("train", "test", "features", "k"),
    [(1, 1, 1, 1), (5, 3, 2, 5), (97, 33, 3, 4), (130, 40, 70, 3)],
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_pixels(variant: Variant, train, test, features, k, votes):
    check(variant, *pixels(train, train, test, features, 4), k, votes)


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_at_the_same_distance_go_by_number(variant: Variant):
    check(variant, np.full((40, 9), 200), [9] * 20 + [1] * 20, np.zeros((3, 9)), 7)


@pytest.mark.parametrize("variant", VARIANTS)
def test_black_and_white_are_farthest(variant: Variant):
    train = np.zeros((60, 1024), int)
    for row in range(60):
        train[row, : 17 * (row % 20)] = 255
    check(variant, train, range(60), np.full((4, 1024), 255), 5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_ties_of_rows_that_are_searched_apart(variant: Variant, monkeypatch):
    """Triton: several chunks of 256 training rows; PyTorch and JAX: blocks of few queries."""
    monkeypatch.setattr(neighbours, "KEYS", 12_000)
    check(variant, *pixels(4, 700, 75, 5, 3), 6)


@pytest.mark.parametrize("variant", INT8)
def test_bytes_have_sums_of_32_bits(variant: Variant):
    """Pixels with more features than can be added exactly in float."""
    train = np.zeros((30, 1500), int)
    for row in range(30):
        train[row, : 33 * (row % 10)] = 255
    check(variant, train, range(30), np.full((4, 1500), 255), 5)


@pytest.mark.parametrize(("votes", "winner"), [("inverse", 1), ("eps", 2)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_rules_of_the_votes_differ(variant: Variant, votes: str, winner: int):
    """1 at 0, 2 at 0, 2 at 5: the distances at 0 are alone in one rule and not in the other."""
    train, test = np.array([[10], [10], [15]]), np.array([[10]])
    check(variant, train, [1, 2, 2], test, 3, votes)
    assert classify(train, [1, 2, 2], test, 3, votes)[0].tolist() == [winner]


def numbers():
    random = np.random.default_rng(7)
    train, test = random.normal(size=(200, 17)), random.normal(size=(31, 17))
    labels = random.integers(0, 3, 200).astype(np.int32)
    arrays = (train.astype(np.float32), labels, test.astype(np.float32))
    return dict(zip(("train", "train_labels", "test"), arrays, strict=True))


@pytest.mark.parametrize("variant", [v for v in FLOATS if not only_pixels(v)])
def test_other_numbers(variant: Variant):
    inputs = numbers()
    found = run(variant, "knn", inputs, k=4, votes="inverse")
    winners, rows, distances = classify(*inputs.values(), 4, "inverse")
    np.testing.assert_array_equal(found["neighbours"], rows)
    np.testing.assert_allclose(found["neighbour_distances"], distances, rtol=1e-14)
    np.testing.assert_array_equal(found["labels"], winners)


@pytest.mark.parametrize("variant", [v for v in FLOATS if only_pixels(v)])
def test_few_digits_are_for_pixels_only(variant: Variant):
    with pytest.raises(Unsupported, match="takes pixels"):
        run(variant, "knn", numbers(), k=4, votes="inverse")
