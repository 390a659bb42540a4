# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TensorFlow on the CPU: one tf.function over consecutive steps, NHWC, gradients by GradientTape.

Images are normalised once. The last step is a call of its own, which also returns the values that its decisions come from.
"""

import numpy as np
import tensorflow as tf

from algorithms.cnn.peers import channels_last, training
from backends.python.peer import HostPeer


def masks_of(stream, counters):
    """Dropout factors after the pool and of the hidden values of mnist: [images x values] each."""
    factors = tuple(tf.constant(factor, tf.uint64) for factor in training.FACTORS)

    def right(words, by):
        return tf.bitwise.right_shift(words, tf.cast(by, tf.uint64))

    words = training.mix(stream + counters, right, factors)[:, :, None]
    split, bits = training.POOLED_WORDS, tf.range(64, dtype=tf.int32)
    pooled = right(words[:, :split], bits[::2]) & tf.constant(3, tf.uint64) != 0
    hidden = right(words[:, split:], bits) & tf.constant(1, tf.uint64) != 0
    pooled = tf.transpose(tf.reshape(pooled, (-1, 64, 12, 12)), (0, 2, 3, 1))
    kept = (pooled, training.POOLED_SCALE), (hidden, training.HIDDEN_SCALE)
    images = tf.shape(counters)[0]
    return [
        tf.reshape(tf.where(by, np.float32(scale), 0), (images, -1))
        for by, scale in kept
    ]


def forward(network, w, x, masks=None):
    """Logits, the arguments of `channels_last.decisions_of`."""
    deciding = []
    for n, of in enumerate(network.convolutions):
        x = tf.nn.conv2d(x, w[2 * n], 1, "VALID") + w[2 * n + 1]
        values, side = x, of.to_side
        if of.pools:
            windows = (-1, side, 2, side, 2, of.outputs)
            values = tf.reshape(x[:, : 2 * side, : 2 * side], windows)
            x = tf.nn.max_pool2d(x, 2, 2, "VALID")
        if of.decides:
            deciding.append(values)
        x = tf.nn.relu(x)
    x = tf.reshape(x, (-1, network.flat))
    x = x * masks[0] if masks else x
    hidden = tf.nn.relu(tf.matmul(x, w[-4]) + w[-3])
    x = hidden * masks[1] if masks else hidden
    return tf.matmul(x, w[-2]) + w[-1], deciding, hidden


def take(task, data, carry, step, place, images):
    """A step on `images` images from position `place` in the order. Returns weights and state, the loss, the gradient,
    and the arguments of `channels_last.decisions_of`."""
    weights, states = carry
    index = data["order"][place : place + images]
    masks = None
    if task.seed is not None:
        masks = masks_of(data["streams"][step], data["counters"][:images])
    x, labels = tf.gather(data["images"], index), tf.gather(data["labels"], index)
    with tf.GradientTape() as tape:
        tape.watch(weights)
        logits, *seen = forward(task.network, weights, x, masks)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tf.reduce_mean(losses)
    gradient = tape.gradient(loss, weights)
    rate = data["rates"][step // task.batches]
    count = tf.cast(step + 1, tf.float32)
    moved = [
        training.advanced(tf.math, task, *of, rate, count)
        for of in zip(weights, states, gradient, strict=True)
    ]
    carry = tuple(tuple(part) for part in zip(*moved, strict=True))
    return carry, loss, gradient, seen


@tf.function
def take_many(task, data, carry, first, place, steps, images):
    """Steps with equally many images. Returns weights and state, and the losses."""
    losses = tf.TensorArray(tf.float32, steps)
    for i in tf.range(steps):
        step = first + i
        carry, loss, *_ = take(task, data, carry, step, place + i * images, images)
        losses = losses.write(i, loss)
    return carry, losses.stack()


take_one = tf.function(take)


@tf.function
def classify(network, weights, images):
    return tf.argmax(forward(network, weights, images)[0], 1, tf.int32)


class Cpu(HostPeer):
    method = "cpu"
    description = (
        "a tf.function over the steps of an epoch, NHWC, GradientTape, on the CPU"
    )
    dtypes = ("f32",)
    only = (("task", "train"), ("input", "device"))
    warm_up = True

    def __init__(self, inputs, parameters, device):
        super().__init__(inputs, parameters, device)
        tf.config.set_visible_devices([], "GPU")
        tf.config.threading.set_intra_op_parallelism_threads(device.threads)

    def upload(self):
        self.task = task = training.task_of(self)
        inputs = self.inputs
        arrays = channels_last.arrays_of(task, inputs)
        self.data = {name: tf.constant(array) for name, array in arrays.items()}
        self.tests = tf.constant(channels_last.planes_of(inputs["test"], task.network))
        tensors = channels_last.tensors_of(task.network, inputs["initial"])
        weights = tuple(tf.constant(tensor) for tensor in tensors)
        states = tuple((tf.zeros_like(w),) * task.states for w in weights)
        self.start = self.run((weights, states), 0, task.warm_up)
        self.results = {}

    def run(self, carry, begin, end):
        """Weights and state after these steps; losses and tests are added to the results."""
        self.losses, self.correct, self.classes = [], [], np.empty(0, np.int32)
        for run in self.task.runs(begin, end):
            places = (tf.constant(at) for at in (run.step, run.first, run.steps))
            carry, losses = take_many(
                self.task, self.data, carry, *places, images=run.images
            )
            self.losses.append(losses)
            self.test_after(run.step + run.steps - 1, carry)
        return carry

    def test_after(self, step, carry):
        if not (self.task.evaluates and self.task.ends_epoch(step)):
            return
        size, network = training.TEST_BATCH, self.task.network
        firsts = range(0, len(self.tests), size)
        found = [classify(network, carry[0], self.tests[i : i + size]) for i in firsts]
        self.classes = np.concatenate([self.classes[:0], *found])
        self.correct.append((self.classes == self.inputs["test_labels"]).sum())

    def reset(self):
        self.results = {}

    def compute(self):
        task, last = self.task, self.task.end - 1
        before = self.run(self.start, task.warm_up, last)
        places = (tf.constant(at) for at in (last, task.first_of(last)))
        after, loss, gradient, seen = take_one(
            task, self.data, before, *places, images=task.images_of(last)
        )
        self.test_after(last, after)
        self.results = {
            "losses": [*self.losses, loss[None]],
            "before": before,
            "after": after,
            "gradient": gradient,
            "seen": seen,
            "tests": (self.correct, self.classes),
        }

    def download(self):
        deciding, hidden = self.results["seen"]
        values = [value.numpy() for value in deciding]
        decisions = channels_last.decisions_of(np, values, hidden.numpy())
        return channels_last.outputs(
            self.task, {**self.results, "decisions": decisions}
        )
