# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The dropout masks of a step, and its decisions for the check, in PyTorch."""

import torch

from algorithms.cnn.peers import training

FACTORS = tuple(factor - 2**64 for factor in training.FACTORS)  # as int64


def logical_shift(z, count):
    return (z >> count) & (2 ** (64 - count) - 1)


def masks_of(stream, counters):
    """Dropout factors after the pool and of the hidden values: [images x values] each."""
    words = training.mix(stream + counters, logical_shift, FACTORS)[:, :, None]
    split = training.POOLED_WORDS
    bits = torch.arange(64, device=words.device)
    pooled = ((words[:, :split] >> bits[::2]) & 3 != 0).flatten(1)
    hidden = ((words[:, split:] >> bits) & 1 != 0).flatten(1)
    return pooled * training.POOLED_SCALE, hidden * training.HIDDEN_SCALE


def decisions_of(network, values, hidden):
    """In the encoding of cnn::Decision; values: (places of the maxima in their plane or None, values)."""
    found = []
    deciding = (of for of in network.convolutions if of.decides)
    for of, (places, value) in zip(deciding, values, strict=True):
        decision = 4 * (value > 0)
        if of.pools:
            across = of.side - 2
            decision = decision + places // across % 2 * 2 + places % across % 2
        found.append(decision.flatten(1))
    return torch.cat(found, 1).to(torch.uint8), (hidden > 0).to(torch.uint8)
