# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the peers of cnn: the images of a step, dropout counters, layout of the outputs."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

CLASSES = 10
TEST_BATCH = 1000  # images classified per call


@dataclass(frozen=True)
class Convolution:
    """3x3 with ReLU; `pools`: then a max-pool 2x2. `decides`: its decisions are results."""

    inputs: int
    outputs: int
    side: int  #: of an input plane
    pools: bool
    decides: bool

    @property
    def to_side(self) -> int:
        """Of an output plane, after the pool."""
        return (self.side - 2) // 2 if self.pools else self.side - 2

    @property
    def values(self) -> int:
        return self.outputs * self.to_side**2


@dataclass(frozen=True)
class Network:
    """As in algorithms/cnn/networks.hpp."""

    convolutions: tuple[Convolution, ...]
    hidden: int
    mean: float  #: of pixels / 255
    deviation: float
    drops: bool
    adam_epsilon: float

    @property
    def flat(self) -> int:
        return self.convolutions[-1].values

    @property
    def decisions(self) -> int:
        """Of an image."""
        return sum(of.values for of in self.convolutions if of.decides)

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Of the tensors of PyTorch's `parameters()`."""
        found: list[tuple[int, ...]] = []
        for of in self.convolutions:
            found += [(of.outputs, of.inputs, 3, 3), (of.outputs,)]
        dense = (self.hidden, self.flat), (CLASSES, self.hidden)
        for shape in dense:
            found += [shape, shape[:1]]
        return found

    @property
    def sizes(self) -> list[int]:
        return [int(np.prod(shape)) for shape in self.shapes]


MNIST = Network(
    (Convolution(1, 32, 28, False, False), Convolution(32, 64, 26, True, True)),
    *(128, 0.1307, 0.3081, True, 1e-8),
)
CIFAR10 = Network(
    (
        Convolution(3, 32, 32, True, True),
        Convolution(32, 64, 15, True, True),
        Convolution(64, 64, 6, False, True),
    ),
    *(64, 0.0, 1.0, False, 1e-7),
)

#: Random words per image of `MNIST`: two bits per value after the pool, then one per hidden value.
POOLED_WORDS, WORDS = MNIST.flat // 32, MNIST.flat // 32 + MNIST.hidden // 64
POOLED_SCALE, HIDDEN_SCALE = 4 / 3, 2.0  # of kept values
FIRST_STREAM = 16
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def mix(
    z: Any,
    right: Callable[[Any, int], Any] = operator.rshift,
    factors: tuple[Any, Any] = (np.uint64(FACTORS[0]), np.uint64(FACTORS[1])),
) -> Any:
    """The finaliser of SplitMix64 (algorithms/contract/random.hpp), on 64-bit integers of any library.

    `right`: a logical right shift, for types whose `>>` is arithmetic.
    """
    z = (z ^ right(z, 30)) * factors[0]
    z = (z ^ right(z, 27)) * factors[1]
    return z ^ right(z, 31)


def scaled(pixels: np.ndarray, network: Network) -> np.ndarray:
    """f32 of u8, of any shape, normalised."""
    values = pixels.astype(np.float32) / np.float32(255)
    values -= np.float32(network.mean)
    values /= np.float32(network.deviation)
    return values


def normalised(images: np.ndarray, network: Network) -> np.ndarray:
    """f32 [images x planes x side x side] of u8, normalised."""
    first = network.convolutions[0]
    return scaled(images, network).reshape(-1, first.inputs, first.side, first.side)


@dataclass(frozen=True)
class Run:
    """Consecutive steps with equally many images, in the order of all epochs."""

    step: int
    first: int  #: position of the first image
    steps: int
    images: int  #: per step


@dataclass(frozen=True)
class Task:
    images: int  #: in the training set
    batch: int
    warm_up: int  #: untimed steps first
    steps: int  #: timed steps
    evaluates: bool  #: after each epoch
    optimizer: str
    seed: int | None  #: of dropout; None: no dropout
    network: Network = MNIST
    bf16: bool = False  #: factors and results of all products

    @property
    def batches(self) -> int:
        """Steps per epoch."""
        return -(-self.images // self.batch)

    @property
    def end(self) -> int:
        """The index after the last step."""
        return self.warm_up + self.steps

    @property
    def states(self) -> int:
        """Values of optimizer state per parameter."""
        return 0 if self.optimizer == "sgd" else 2

    def first_of(self, step: int) -> int:
        epoch, number = divmod(step, self.batches)
        return epoch * self.images + number * self.batch

    def images_of(self, step: int) -> int:
        return min(self.batch, self.images - step % self.batches * self.batch)

    def ends_epoch(self, step: int) -> bool:
        return (step + 1) % self.batches == 0

    def runs(self, begin: int, end: int) -> Iterator[Run]:
        """The steps from `begin` to `end`, split at the ends of epochs and before a smaller last batch."""
        while begin < end:
            images = self.images_of(begin)
            whole = self.images // self.batch  # steps with a whole batch per epoch
            steps = min(end - begin, max(1, whole - begin % self.batches))
            yield Run(begin, self.first_of(begin), steps, images)
            begin += steps

    def streams(self) -> np.ndarray:
        """u64 [steps]: base of a step's counters; `mix` of base + counter is a random word."""
        if self.seed is None:
            return np.zeros(self.end, np.uint64)
        seed = np.array([self.seed], np.int64).view(np.uint64)
        numbers = np.arange(self.end, dtype=np.uint64) + np.uint64(FIRST_STREAM)
        return mix(mix(seed + GOLDEN) + numbers * GOLDEN)

    def counters(self) -> np.ndarray:
        """u64 [batch x words]"""
        numbers = np.arange(self.batch * WORDS, dtype=np.uint64)
        return (numbers * GOLDEN).reshape(self.batch, WORDS)


def task_of(peer: Any) -> Task:
    """From the inputs and parameters of a peer."""
    inputs, parameters = peer.inputs, peer.parameters
    images = len(inputs["train_labels"])
    batch = min(int(parameters["batch"]), images)
    steps = int(parameters["steps"])
    network = CIFAR10 if parameters["network"] == "cifar10" else MNIST
    drops = network.drops and parameters["dropout"] == "on"
    return Task(
        images=images,
        batch=batch,
        warm_up=int(parameters["warm_up"]),
        steps=steps or int(parameters["epochs"]) * -(-images // batch),
        evaluates=not steps,
        optimizer=str(parameters["optimizer"]),
        seed=int(inputs["dropout_seed"][0]) if drops else None,
        network=network,
    )


def advanced(
    library: Any,
    task: Task,
    weight: Any,
    state: Any,
    gradient: Any,
    rate: Any,
    count: Any,
) -> tuple[Any, Any]:
    """A parameter and its state after step `count`, from 1 (algorithms/blocks/optimizer.hpp), by the `sqrt` and
    `expm1` of a library."""
    if task.optimizer == "sgd":
        return weight - rate * gradient, ()
    first, second = state
    if task.optimizer == "adadelta":
        first = 0.9 * first + 0.1 * gradient * gradient
        change = library.sqrt(second + 1e-6) / library.sqrt(first + 1e-6) * gradient
        second = 0.9 * second + 0.1 * change * change
        return weight - rate * change, (first, second)
    first = 0.9 * first + 0.1 * gradient
    second = 0.999 * second + 0.001 * gradient * gradient
    # expm1: 1 - 0.999^1 would lose four digits to cancellation.
    means, squares = (-library.expm1(count * math.log(d)) for d in (0.9, 0.999))
    scale = library.sqrt(second / squares) + task.network.adam_epsilon
    return weight - rate * (first / means / scale), (first, second)


def outputs(task: Task, found: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Outputs in the problem's types and shapes."""
    whole = (np.float32, (-1, sum(task.network.sizes)))
    forms: dict[str, tuple[Any, tuple[int, ...]]] = {
        "loss": (np.float32, (task.steps,)),
        "correct": (np.int64, (-1,)),
        "predictions": (np.int32, (-1,)),
        "pool_decisions": (np.uint8, (-1, task.network.decisions)),
        "hidden_decisions": (np.uint8, (-1, task.network.hidden)),
    }
    types = {name: forms.get(name, whole) for name in found}
    return {
        name: np.asarray(found[name], kind).reshape(shape)
        for name, (kind, shape) in types.items()
    }
