# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of softmax_regression against the descent in double, straight from the formula."""

import numpy as np
import pytest
from peer_support import Variant, peer_of, run, variants

from backends.python.peer import Unsupported

#: tf32 is a captured graph, lbfgs another solver
VARIANTS = [
    v for v in variants("softmax_regression") if v.values[0][1] not in ("tf32", "lbfgs")
]
RULE = {"learning_rate": 0.5, "l2": 0.0, "batch": 0}


def data(rows, features, pixels):
    random = np.random.default_rng(rows)
    labels = (np.arange(rows) * 7 % 4).astype(np.int32)
    train = random.random((rows, features)) * (1 + labels[:, None] % 3) / 3
    if pixels:
        train = (train * 255).astype(np.uint8)
    train = train if pixels else train.astype(np.float32)
    last = np.array(
        [3], np.int32
    )  # the highest class occurs here only, if there is one row
    test = {"test": train[:1], "test_labels": last}
    return {"train": train, "train_labels": labels, **test}


def descend(train, labels, steps, learning_rate, l2, batch):
    """theta, losses."""
    x = train / 255 if train.dtype == np.uint8 else train.astype(float)
    x = np.hstack([x, np.ones((len(x), 1))])
    theta, losses, first = np.zeros((x.shape[1], 4)), [], 0
    for _ in range(steps):
        last = min(first + (batch or len(x)), len(x))
        rows, right = x[first:last], np.eye(4)[labels[first:last]]
        z = rows @ theta
        z -= z.max(1, keepdims=True)
        logs = z - np.log(np.exp(z).sum(1, keepdims=True))
        penalised = theta.copy()
        penalised[-1] = 0
        losses.append(-(logs * right).sum() / len(rows) + l2 / 2 * (penalised**2).sum())
        gradient = rows.T @ (np.exp(logs) - right) / len(rows) + l2 * penalised
        theta = theta - learning_rate * gradient
        first = last % len(x)
    return theta, np.array(losses)


def compare(variant, rows, features, pixels, **changes):
    if variant[2] == "u8" and not pixels:
        pytest.skip("bytes are pixels")
    steps = 5 if variant[0] == "triton" else 12  # its interpreter is slow
    inputs = data(rows, features, pixels)
    rule = {**RULE, **changes}
    found = run(variant, "softmax_regression", inputs, steps=steps, **rule)
    train, labels, *_ = inputs.values()
    theta, loss = descend(train, labels, steps, **rule)
    np.testing.assert_allclose(found["theta"], theta, rtol=0, atol=2e-6)
    np.testing.assert_allclose(found["loss"], loss, rtol=0, atol=4e-6)
    assert found["steps"].tolist() == [steps]
    assert [value.dtype.str[1:] for value in found.values()] == ["f8", "f8", "i8"]


@pytest.mark.parametrize("pixels", [True, False])
@pytest.mark.parametrize(("rows", "features"), [(1, 1), (403, 13)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_descent(variant: Variant, rows: int, features: int, pixels: bool):
    compare(variant, rows, features, pixels)


@pytest.mark.parametrize("batch", [1, 64, 101, 1000])
@pytest.mark.parametrize("variant", VARIANTS)
def test_batches_come_round_again(variant: Variant, batch: int):
    compare(variant, 202, 5, True, batch=batch, learning_rate=0.1)


@pytest.mark.parametrize("variant", VARIANTS)
def test_penalty_leaves_the_biases_alone(variant: Variant):
    compare(variant, 300, 6, True, l2=0.2)


def test_tf32_rounds_weights_and_residuals_to_11_bits(monkeypatch):
    made_from = peer_of("softmax_regression", "triton", "tf32_graph")
    monkeypatch.setattr(made_from, "execution", "eager")
    inputs = data(403, 13, True)
    variant = ("triton", "tf32_graph", "f32")
    found = run(variant, "softmax_regression", inputs, steps=4, **RULE)
    train, labels, *_ = inputs.values()
    theta, loss = descend(train, labels, 4, **RULE)
    assert 1e-6 < np.abs(found["theta"] - theta).max() < 2e-4
    assert 1e-6 < np.abs(found["loss"] - loss).max() < 2e-4


LBFGS = ("sklearn", "lbfgs", "f32")


def loss_at(theta, train, labels, l2):
    """In double, over all rows."""
    x = np.hstack(
        [train / (255 if train.dtype == np.uint8 else 1), np.ones((len(train), 1))]
    )
    z = x @ theta
    z -= z.max(1, keepdims=True)
    logs = z - np.log(np.exp(z).sum(1, keepdims=True))
    return -logs[np.arange(len(z)), labels].mean() + l2 / 2 * (theta[:-1] ** 2).sum()


@pytest.mark.parametrize("l2", [0.0, 0.05])
@pytest.mark.parametrize("pixels", [True, False])
def test_lbfgs_ends_at_the_loss_of_the_descent(pixels: bool, l2: float):
    inputs, steps = data(403, 13, pixels), 60
    train, labels, *_ = inputs.values()
    found = run(LBFGS, "softmax_regression", inputs, steps=steps, **{**RULE, "l2": l2})
    theta, _ = descend(train, labels, steps, 0.5, l2, 0)
    target = loss_at(theta, train, labels, l2)
    assert loss_at(found["theta"], train, labels, l2) <= target + 1e-6
    np.testing.assert_allclose(
        found["loss"], loss_at(found["theta"], train, labels, l2), atol=1e-6
    )
    (iterations,) = found["steps"]
    assert 1 <= iterations < steps, "L-BFGS needs fewer iterations than the descent"


def test_lbfgs_of_two_classes_has_the_same_penalty():
    inputs = data(60, 3, False)
    inputs["train_labels"] //= 2
    inputs["test_labels"] //= 2
    theta = run(LBFGS, "softmax_regression", inputs, steps=2000, **{**RULE, "l2": 0.1})[
        "theta"
    ]
    train, labels = inputs["train"], inputs["train_labels"]
    nearby = np.random.default_rng(1).normal(0, 0.05, (20, *theta.shape))
    losses = [loss_at(theta + change, train, labels, 0.1) for change in nearby]
    assert loss_at(theta, train, labels, 0.1) < min(losses)


def test_lbfgs_refuses_batches_and_classes_without_rows():
    for inputs, batch, reason in (
        (data(403, 13, True), 64, "batch = 0 only"),
        (data(1, 1, True), 0, "only the classes that have a training row"),
    ):
        with pytest.raises(Unsupported, match=reason):
            run(
                LBFGS, "softmax_regression", inputs, steps=3, **{**RULE, "batch": batch}
            )
