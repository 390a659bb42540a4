# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the peers of cnn whose tensors are NHWC and HWIO: arrays of a training, layout of parameters and results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from algorithms.cnn.peers import training
from algorithms.cnn.peers.training import Network, Task


def planes_of(images: np.ndarray, network: Network) -> np.ndarray:
    """f32 [images x side x side x planes] of u8, normalised."""
    planes = training.normalised(images, network)
    return np.ascontiguousarray(planes.transpose(0, 2, 3, 1))


def arrays_of(task: Task, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """What its steps read."""
    return {
        "images": planes_of(inputs["train"], task.network),
        "labels": inputs["train_labels"],
        "order": inputs["order"].flatten(),
        "rates": inputs["rates"],
        "streams": task.streams(),
        "counters": task.counters(),
    }


def tensors_of(network: Network, values: np.ndarray) -> list[np.ndarray]:
    """From [parameters] in PyTorch's order: filters HWIO, the dense layers' weights [inputs x outputs], those of the
    first in the order [y][x][channel] of its inputs."""
    cuts, last = np.cumsum(network.sizes)[:-1], network.convolutions[-1]
    parts = zip(np.split(values, cuts), network.shapes, strict=True)
    w = [part.reshape(shape) for part, shape in parts]
    for n in range(0, len(w) - 4, 2):
        w[n] = w[n].transpose(2, 3, 1, 0)
    w[-4] = w[-4].reshape(-1, last.outputs, last.to_side, last.to_side)
    w[-4] = w[-4].transpose(2, 3, 1, 0).reshape(network.flat, -1)
    w[-2] = w[-2].T
    return [np.ascontiguousarray(part) for part in w]


def flat(network: Network, tensors: Iterable[Any]) -> np.ndarray:
    """[parameters] in PyTorch's order."""
    w, last = [np.asarray(tensor) for tensor in tensors], network.convolutions[-1]
    for n in range(0, len(w) - 4, 2):
        w[n] = w[n].transpose(3, 2, 0, 1)
    w[-4] = w[-4].reshape(last.to_side, last.to_side, last.outputs, -1)
    w[-4] = w[-4].transpose(3, 2, 0, 1)
    w[-2] = w[-2].T
    return np.concatenate([part.flatten() for part in w])


def decisions_of(xp: Any, deciding: Iterable[Any], hidden: Any) -> tuple[Any, Any]:
    """In the encoding of cnn::Decision, by NumPy or jax.numpy. `deciding`: values of convolutions, before a pool as
    windows [images x side x 2 x side x 2 x channels]."""
    found = []
    for values in deciding:
        pooled = values.ndim == 6
        order = (0, 5, 1, 3, 2, 4) if pooled else (0, 3, 1, 2)
        windows = values.transpose(order).reshape(len(hidden), -1, 4 if pooled else 1)
        live = (windows.max(2) > 0).astype(xp.uint8)
        found.append(windows.argmax(2).astype(xp.uint8) + 4 * live)
    return xp.concatenate(found, 1), (hidden > 0).astype(xp.uint8)


def outputs(task: Task, found: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Of a training's `losses` (in parts), weights and state `before` and `after` the last step, its `gradient` and
    `decisions`, and the `tests`: right ones, and the last classes."""
    network = task.network

    def rows(states: Iterable[Iterable[Any]]) -> np.ndarray:
        return np.array([flat(network, row) for row in zip(*states)], np.float32)

    (before, state_before), (after, state) = found["before"], found["after"]
    correct, classes = found["tests"]
    results = {
        "loss": np.concatenate([np.asarray(part) for part in found["losses"]]),
        "weights": flat(network, after),
        "state": rows(state),
        "weights_before": flat(network, before),
        "state_before": rows(state_before),
        "gradient": flat(network, found["gradient"]),
        "pool_decisions": found["decisions"][0],
        "hidden_decisions": found["decisions"][1],
        "correct": [int(right) for right in correct],
        "predictions": classes,
    }
    return training.outputs(task, results)
