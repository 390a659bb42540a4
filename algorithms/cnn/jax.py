# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: one jit of a scan over the steps of an epoch, without returning to the host in between.

Images and filters are NHWC and HWIO, the pool is a reshape and a maximum, and fc1's weights are kept in the
order of its inputs here, [y][x][channel]. The gradient of a maximum is split between equal values of a
window; these come from equal pixels around them, so that the gradients do not depend on the split. The
last step runs outside of the scan and also returns its decisions.
"""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from algorithms.cnn import training
from backends.python.gpu import JaxPeer

NHWC = ("NHWC", "HWIO", "NHWC")


def from_flat(network, values):
    """Tensors in this file's layout, from [parameters] in PyTorch's order."""
    cuts, last = np.cumsum(network.sizes)[:-1], network.convolutions[-1]
    parts = zip(np.split(values, cuts), network.shapes, strict=True)
    w = [part.reshape(shape) for part, shape in parts]
    for n in range(0, len(w) - 4, 2):
        w[n] = w[n].transpose(2, 3, 1, 0)
    w[-4] = w[-4].reshape(-1, last.outputs, last.to_side, last.to_side)
    w[-4] = w[-4].transpose(2, 3, 1, 0).reshape(network.flat, -1)
    w[-2] = w[-2].T
    return tuple(jnp.asarray(np.ascontiguousarray(part)) for part in w)


def to_flat(network, tensors):
    w, last = [np.asarray(tensor) for tensor in tensors], network.convolutions[-1]
    for n in range(0, len(w) - 4, 2):
        w[n] = w[n].transpose(3, 2, 0, 1)
    w[-4] = w[-4].reshape(last.to_side, last.to_side, last.outputs, -1)
    w[-4] = w[-4].transpose(3, 2, 0, 1)
    w[-2] = w[-2].T
    return np.concatenate([part.flatten() for part in w])


def masks_of(stream, counters):
    """Dropout factors after the pool and of the hidden values: [images x values] each."""
    words = training.mix(stream + counters)[:, :, None]
    split = training.POOLED_WORDS
    bits = jnp.arange(64, dtype=jnp.uint64)
    pooled = (words[:, :split] >> bits[::2]) & 3 != 0
    hidden = (words[:, split:] >> bits) & 1 != 0
    pooled = pooled.reshape(-1, 64, 12, 12).transpose(0, 2, 3, 1)
    return (
        jnp.where(pooled, np.float32(training.POOLED_SCALE), 0).reshape(len(words), -1),
        jnp.where(hidden, np.float32(training.HIDDEN_SCALE), 0).reshape(len(words), -1),
    )


def forward(network, w, x, masks=None):
    """Logits, the convolutions' values that decide, and the hidden values. With a pool, the values are windows:
    [images x side x 2 x side x 2 x channels]."""

    def convolved(x, filters, biases):
        how = {"padding": "VALID", "dimension_numbers": NHWC}
        return jax.lax.conv_general_dilated(x, filters, (1, 1), **how) + biases

    deciding = []
    for n, of in enumerate(network.convolutions):
        x = convolved(x, w[2 * n], w[2 * n + 1])
        if of.pools:
            side = of.to_side
            x = x[:, : 2 * side, : 2 * side].reshape(-1, side, 2, side, 2, of.outputs)
        if of.decides:
            deciding.append(x)
        x = jax.nn.relu(x.max((2, 4)) if of.pools else x)
    x = x.reshape(len(x), -1)
    x = x * masks[0] if masks else x
    hidden = jax.nn.relu(x @ w[-4] + w[-3])
    x = hidden * masks[1] if masks else hidden
    return x @ w[-2] + w[-1], deciding, hidden


def loss_of(w, network, x, labels, masks):
    """The mean loss over the images, and the arguments of `decisions_of`."""
    logits, *seen = forward(network, w, x, masks)
    logs = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(logs, labels[:, None], 1).mean(), seen


def decisions_of(deciding, hidden):
    """In the encoding of cnn::Decision."""
    found = []
    for values in deciding:
        pooled = values.ndim == 6
        order = (0, 5, 1, 3, 2, 4) if pooled else (0, 3, 1, 2)
        windows = values.transpose(order).reshape(len(hidden), -1, 4 if pooled else 1)
        live = (windows.max(2) > 0).astype(jnp.uint8)
        found.append(windows.argmax(2).astype(jnp.uint8) + 4 * live)
    return jnp.concatenate(found, 1), (hidden > 0).astype(jnp.uint8)


def advanced(task, weight, state, gradient, rate, step):
    """A parameter and its state after a step (algorithms/blocks/optimizer.hpp)."""
    optimizer = task.optimizer
    if optimizer == "sgd":
        return weight - rate * gradient, ()
    first, second = state
    if optimizer == "adadelta":
        first = 0.9 * first + 0.1 * gradient * gradient
        change = jnp.sqrt(second + 1e-6) / jnp.sqrt(first + 1e-6) * gradient
        second = 0.9 * second + 0.1 * change * change
        return weight - rate * change, (first, second)
    first = 0.9 * first + 0.1 * gradient
    second = 0.999 * second + 0.001 * gradient * gradient
    count = (step + 1).astype(jnp.float32)
    # expm1: 1 - 0.999^1 would lose four digits to cancellation.
    means, squares = (-jnp.expm1(count * math.log(decay)) for decay in (0.9, 0.999))
    change = first / means / (jnp.sqrt(second / squares) + task.network.adam_epsilon)
    return weight - rate * change, (first, second)


def take(task, data, carry, step, place, images):
    """A step on `images` images from position `place` in the order. Returns weights and state, (loss,
    gradient, decisions)."""
    weights, states = carry
    index = jax.lax.dynamic_slice_in_dim(data["order"], place, images)
    masks = None
    if task.seed is not None:
        masks = masks_of(data["streams"][step], data["counters"][:images])
    x, labels = data["images"][index], data["labels"][index]
    differentiate = jax.value_and_grad(loss_of, has_aux=True)
    (loss, seen), gradient = differentiate(weights, task.network, x, labels, masks)
    rate = data["rates"][step // task.batches]
    moved = [
        advanced(task, *of, rate, step)
        for of in zip(weights, states, gradient, strict=True)
    ]
    carry = tuple(tuple(part) for part in zip(*moved, strict=True))
    return carry, (loss, gradient, decisions_of(*seen))


@functools.partial(jax.jit, static_argnames=("task", "steps", "images"))
def take_many(task, data, carry, first, place, steps, images):
    """Steps with equally many images. Returns weights and state, and the losses."""

    def body(carry, i):
        carry, (loss, *_) = take(
            task, data, carry, first + i, place + i * images, images
        )
        return carry, loss

    return jax.lax.scan(body, carry, jnp.arange(steps))


take_one = functools.partial(jax.jit, static_argnames=("task", "images"))(take)


@functools.partial(jax.jit, static_argnames="network")
def classify(network, weights, images):
    return forward(network, weights, images)[0].argmax(1).astype(jnp.int32)


class Scan(JaxPeer):
    method = "scan"
    description = "jit of a scan over the steps of an epoch, autodiff, NHWC"
    dtypes = ("f32",)
    only = (("task", "train"), ("input", "device"))

    def upload(self):
        self.task = task = training.task_of(self)
        inputs = self.inputs

        def planes_of(images):
            return training.channels_last(training.normalised(images, task.network))

        arrays = {
            "images": planes_of(inputs["train"]),
            "labels": inputs["train_labels"],
            "order": inputs["order"].flatten(),
            "rates": inputs["rates"],
            "streams": task.streams(),
            "counters": task.counters(),
        }
        self.data = {name: self.to_device(array) for name, array in arrays.items()}
        self.tests = self.to_device(planes_of(inputs["test"]))
        self.test_labels = self.to_device(inputs["test_labels"])
        weights = from_flat(task.network, inputs["initial"])
        states = tuple((jnp.zeros_like(w),) * task.states for w in weights)
        self.start = self.run((weights, states), 0, task.warm_up)
        self.results = {}

    def run(self, carry, begin, end):
        """Weights and state after these steps; losses and tests are added to the results."""
        self.losses, self.correct, self.classes = [], [], self.test_labels[:0]
        for run in self.task.runs(begin, end):
            carry, losses = self.take_run(carry, run)
            self.losses.append(losses)
            self.test_after(run.step + run.steps - 1, carry)
        return carry

    def take_run(self, carry, run):
        """Weights and state after these steps, and the losses."""
        sizes = (run.step, run.first, run.steps, run.images)
        return take_many(self.task, self.data, carry, *sizes)

    def test_after(self, step, carry):
        if not (self.task.evaluates and self.task.ends_epoch(step)):
            return
        size = training.TEST_BATCH
        firsts = range(0, len(self.tests), size)
        found = [
            classify(self.task.network, carry[0], self.tests[i : i + size])
            for i in firsts
        ]
        self.classes = jnp.concatenate([self.classes[:0], *found])
        self.correct.append((self.classes == self.test_labels).sum())

    def reset(self):
        self.results = {}

    def compute(self):
        task, last = self.task, self.task.end - 1
        before = self.run(self.start, task.warm_up, last)
        place, images = task.first_of(last), task.images_of(last)
        after, (loss, gradient, decisions) = take_one(
            task, self.data, before, last, place, images=images
        )
        self.test_after(last, after)
        self.results = {
            "loss": [*self.losses, loss[None]],
            "before": before,
            "after": after,
            "gradient": gradient,
            "decisions": decisions,
            "tests": (self.correct, self.classes),
        }

    def download(self):
        found, network = self.results, self.task.network
        (before, state_before), (after, state) = found["before"], found["after"]

        def flat(states):
            rows = zip(*states, strict=True)
            return np.array([to_flat(network, row) for row in rows], np.float32)

        correct, classes = found["tests"]
        results = {
            "loss": np.concatenate([np.asarray(part) for part in found["loss"]]),
            "weights": to_flat(network, after),
            "state": flat(state),
            "weights_before": to_flat(network, before),
            "state_before": flat(state_before),
            "gradient": to_flat(network, found["gradient"]),
            "pool_decisions": found["decisions"][0],
            "hidden_decisions": found["decisions"][1],
            "correct": [int(right) for right in correct],
            "predictions": classes,
        }
        return training.outputs(self.task, results)


class ScanTf32(Scan):
    method = "scan_tf32"
    description = "scan, factors of all products in tf32"
    forms = (("gradient", "tf32 all"),)

    def upload(self):
        with jax.default_matmul_precision("tensorfloat32"):
            super().upload()

    def compute(self):
        with jax.default_matmul_precision("tensorfloat32"):
            super().compute()


class Cpu(Scan):
    method = "cpu"
    description = "jit of a step, on the CPU: XLA's convolutions are slow in its loops"
    kind = "host"

    def take_run(self, carry, run):
        losses = []
        for i in range(run.steps):
            place = run.first + i * run.images
            carry, (loss, *_) = take_one(
                self.task, self.data, carry, run.step + i, place, images=run.images
            )
            losses.append(loss)
        return carry, jnp.stack(losses)
