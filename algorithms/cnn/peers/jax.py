# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX: one jit of a scan over the steps of an epoch, without returning to the host in between.

The last step runs outside of the scan and also returns its decisions.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp

from algorithms.cnn.peers import channels_last, training
from algorithms.cnn.peers.network_jax import forward, loss_of, masks_of
from backends.python.gpu import JaxPeer


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
    (loss, seen), gradient = differentiate(weights, task, x, labels, masks)
    rate = data["rates"][step // task.batches]
    count = (step + 1).astype(jnp.float32)
    moved = [
        training.advanced(jnp, task, *of, rate, count)
        for of in zip(weights, states, gradient, strict=True)
    ]
    carry = tuple(tuple(part) for part in zip(*moved, strict=True))
    return carry, (loss, gradient, channels_last.decisions_of(jnp, *seen))


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


@functools.partial(jax.jit, static_argnames="task")
def classify(task, weights, images):
    logits, *_ = forward(task.network, weights, images, bf16=task.bf16)
    return logits.argmax(1).astype(jnp.int32)


class Scan(JaxPeer):
    method = "scan"
    description = "jit of a scan over the steps of an epoch, autodiff, NHWC"
    dtypes = ("f32",)
    only = (("task", "train"), ("input", "device"))
    forms = (("gradient", "f32 transformed"),)  # cuDNN may take Winograd's transforms
    #: Factors and results of all products.
    bf16 = False

    def upload(self):
        self.task = task = dataclasses.replace(training.task_of(self), bf16=self.bf16)
        inputs = self.inputs
        arrays = channels_last.arrays_of(task, inputs)
        self.data = {name: self.to_device(array) for name, array in arrays.items()}
        tests = channels_last.planes_of(inputs["test"], task.network)
        self.tests = self.to_device(tests)
        self.test_labels = self.to_device(inputs["test_labels"])
        tensors = channels_last.tensors_of(task.network, inputs["initial"])
        weights = tuple(jnp.asarray(tensor) for tensor in tensors)
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
            classify(self.task, carry[0], self.tests[i : i + size]) for i in firsts
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
            "losses": [*self.losses, loss[None]],
            "before": before,
            "after": after,
            "gradient": gradient,
            "decisions": decisions,
            "tests": (self.correct, self.classes),
        }

    def download(self):
        return channels_last.outputs(self.task, self.results)


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


class ScanBf16(Scan):
    method = "scan_bf16"
    description = "scan, factors and results of all products in bf16; biases, loss, weights and update in f32"
    forms = (("gradient", "bf16 all"),)
    bf16 = True


class Cpu(Scan):
    method = "cpu"
    description = "jit of a step, on the CPU: XLA's convolutions are slow in its loops"
    kind = "host"
    forms = ()

    def take_run(self, carry, run):
        losses = []
        for i in range(run.steps):
            place = run.first + i * run.images
            carry, (loss, *_) = take_one(
                self.task, self.data, carry, run.step + i, place, images=run.images
            )
            losses.append(loss)
        return carry, jnp.stack(losses)
