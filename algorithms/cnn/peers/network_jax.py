# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks in JAX: forward pass and loss.

Images and filters are NHWC and HWIO, the pool is a reshape and a maximum, and fc1's weights are kept in the
order of its inputs here, [y][x][channel]. The gradient of a maximum is split between equal values of a
window; these come from equal pixels around them, so that the gradients do not depend on the split. In bf16
values may be equal by their rounding, and the first of them gets the gradient.
"""

import jax
import jax.numpy as jnp
import numpy as np

from algorithms.cnn.peers import training

NHWC = ("NHWC", "HWIO", "NHWC")


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


def of_bf16(product):
    """With factors in bf16 and a result that is stored in bf16, forward and backward; sums are f32 on a GPU. (With
    `preferred_element_type` = f32 the backward pass would multiply f32 gradients.)"""

    def rounding(x, w):
        return product(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16)).astype(
            jnp.float32
        )

    return rounding


def first_maximum(windows):
    """The maxima, where the gradient goes to the first of equal values: in bf16 these may come from other pixels."""

    def larger(a, b):
        return jnp.where(b > a, b, a)

    above, below = (
        larger(windows[:, :, y, :, 0], windows[:, :, y, :, 1]) for y in (0, 1)
    )
    return larger(above, below)


def forward(network, w, x, masks=None, bf16=False):
    """Logits, the convolutions' values that decide, and the hidden values. With a pool, the values are windows:
    [images x side x 2 x side x 2 x channels]."""

    def convolve(x, filters):
        how = {"padding": "VALID", "dimension_numbers": NHWC}
        return jax.lax.conv_general_dilated(x, filters, (1, 1), **how)

    multiply, pool = jnp.matmul, lambda windows: windows.max((2, 4))
    if bf16:
        convolve, multiply = of_bf16(convolve), of_bf16(multiply)
        pool = first_maximum

    deciding = []
    for n, of in enumerate(network.convolutions):
        x = convolve(x, w[2 * n]) + w[2 * n + 1]
        if of.pools:
            side = of.to_side
            x = x[:, : 2 * side, : 2 * side].reshape(-1, side, 2, side, 2, of.outputs)
        if of.decides:
            deciding.append(x)
        x = jax.nn.relu(pool(x) if of.pools else x)
    x = x.reshape(len(x), -1)
    x = x * masks[0] if masks else x
    hidden = jax.nn.relu(multiply(x, w[-4]) + w[-3])
    x = hidden * masks[1] if masks else hidden
    return multiply(x, w[-2]) + w[-1], deciding, hidden


def loss_of(w, task, x, labels, masks):
    """The mean loss over the images, and the arguments of `channels_last.decisions_of`."""
    logits, *seen = forward(task.network, w, x, masks, task.bf16)
    logs = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(logs, labels[:, None], 1).mean(), seen
