# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks in PyTorch: forward pass, with what the decisions are made of."""

import contextlib

import torch
from torch.nn import functional


class Forward:
    """Of a training with a `task`, `weights` and a `place`."""

    channels_last = False
    #: Factors and results of all products of training in bf16, by autocast.
    bf16 = False

    def convolve_and_pool(self, x, weight, bias):
        """Maxima and their positions."""
        x = functional.conv2d(x, weight, bias)
        return functional.max_pool2d(x, 2, return_indices=True)

    def logits(self, x, masks=None, weights=None):
        """Logits of images; also the deciding convolutions' positions of the pool's maxima and values after
        the ReLU, and the hidden values. `weights`: those of a replica."""
        w, seen = weights or self.weights, []
        x = x.movedim(3, 1) if self.channels_last else x
        for n, of in enumerate(self.task.network.convolutions):
            places, filters = None, w[2 * n : 2 * n + 2]
            if of.pools:
                x, places = self.convolve_and_pool(x, *filters)
            else:
                x = functional.conv2d(x, *filters)
            x = x.relu()
            if of.decides:
                seen.append((places, x.detach()))
        x = x.flatten(1)
        x = functional.linear(x * masks[0] if masks else x, w[-4], w[-3])
        hidden = x.relu()
        x = functional.linear(hidden * masks[1] if masks else hidden, w[-2], w[-1])
        return x, seen, hidden.detach()

    def products(self):
        """The context of the network's products in training."""
        if not self.bf16:
            return contextlib.nullcontext()
        how = {"dtype": torch.bfloat16, "cache_enabled": False}  # a cast is recorded
        return torch.autocast(self.place.type, **how)
