# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: eager, channels last, compiled, captured; with a routed backward pass; on the CPU too.

Images are normalised once. Dropout masks are drawn in each step, on a GPU by one kernel that
torch.compile makes of the counter hash, at about the cost of F.dropout. The decisions for the check are
by-products of training: the indices that max_pool2d returns for the backward pass and the values after
each ReLU; those of the last step are kept. With input = host a DataLoader loads the batches.
"""

import torch
from torch.nn import functional

from algorithms.cnn.peers.distributed_torch import Distributed, Replica
from algorithms.cnn.peers.training_torch import Training
from backends.python.gpu import TorchPeer
from backends.python.peer import HostPeer


class Eager(Training, TorchPeer):
    method = "eager"
    description = "F.conv2d, max_pool2d, linear; backward(); torch.optim: Adadelta foreach, SGD and Adam fused"
    only = (("task", "train"),)
    dtypes = ("f32",)
    forms = (("gradient", "f32 transformed"),)  # cuDNN may take Winograd's transforms

    def __init__(self, inputs, parameters, device):
        super().__init__(inputs, parameters, device)
        if parameters["optimizer"] == "adam":  # what the fused kernel computes with
            self.forms = (*self.forms, ("weights", "decays in f32"))

    @property
    def place(self):
        return self.cuda


class ChannelsLast(Eager):
    method = "channels_last"
    description = "eager, images and filters channels last, cudnn.benchmark"
    only = (("task", "train"), ("input", "device"))
    channels_last = True


class Compiled(ChannelsLast):
    method = "compiled"
    description = "torch.compile of the forward and backward pass and of Adadelta"
    execution = "compiled"


class Graph(ChannelsLast):
    method = "graph"
    description = "a step of channels_last as one CUDA graph"
    execution = "graph"


class CompiledGraph(ChannelsLast):
    method = "compiled_graph"
    description = "the compiled step as one CUDA graph"
    execution = "compiled_graph"


class CompiledGraphTf32(CompiledGraph):
    method = "compiled_graph_tf32"
    description = "compiled_graph, factors of all products in tf32; tests in f32"
    forms = (("gradient", "tf32 all"),)
    tf32 = True


class CompiledGraphBf16(CompiledGraph):
    method = "compiled_graph_bf16"
    description = "compiled_graph, forward under autocast to bf16: factors and results of all products; loss, weights, update and tests in f32"
    forms = (("gradient", "bf16 all"),)
    bf16 = True


class RoutedConvolution(torch.autograd.Function):
    """Convolution and pool; the backward pass only takes positions with a gradient, as sparse matrices."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        y = functional.conv2d(x, weight, bias)
        pooled, places = functional.max_pool2d(y, 2, return_indices=True)
        ctx.save_for_backward(x, weight, places)
        ctx.side = y.shape[-1]
        ctx.mark_non_differentiable(places)
        return pooled, places

    @staticmethod
    def backward(ctx, gradient, _):
        x, weight, places = ctx.saved_tensors
        (images, channels), side = x.shape[:2], ctx.side
        routed = functional.max_unpool2d(gradient, places, 2, output_size=(side, side))
        rows = routed.movedim(1, 3).reshape(-1, len(weight))  # one row per position
        patches = x.unfold(2, 3, 1).unfold(3, 3, 1).permute(0, 2, 3, 1, 4, 5)
        patches = patches.reshape(len(rows), -1)
        d_weight = (rows.T.contiguous().to_sparse_csr() @ patches).view(weight.shape)
        taps = rows.to_sparse_csr() @ weight.reshape(len(weight), -1)
        taps = taps.view(images, side, side, channels, 3, 3).permute(0, 3, 1, 2, 4, 5)
        d_x = torch.zeros_like(x)
        for row in range(3):
            for column in range(3):
                to = d_x[:, :, row : row + side, column : column + side]
                to += taps[..., row, column]
        return d_x, d_weight, gradient.sum((0, 2, 3))


class Routed(ChannelsLast):
    method = "routed"
    only = (("task", "train"), ("input", "device"), ("network", "mnist"))
    description = "channels_last; conv2's backward pass only where the pool let a gradient through, in sparse products"

    def convolve_and_pool(self, x, weight, bias):
        return RoutedConvolution.apply(x, weight, bias)


class DataParallel(Eager):
    method = "data_parallel"
    description = "eager in nn.DataParallel: each step replicates the weights and gathers on the first GPU"
    several = True

    def make_optimizer(self):
        network = torch.nn.DataParallel(
            Replica(self), list(self.device.indices) or None
        )
        self.scores = lambda x, masks: network(x, *(masks or ()))
        return super().make_optimizer()

    def time(self, count):
        return self.latency(count)  # events on the first GPU do not see the others


class DistributedDataParallel(Distributed, Eager):
    method = "distributed"
    description = "eager in DistributedDataParallel: a process per GPU, gradients all-reduced during backward()"
    several = True


class Cpu(Training, HostPeer):
    method = "cpu"
    description = "eager, on the CPU"
    only = (("task", "train"),)
    dtypes = ("f32",)
    place = torch.device("cpu")

    def __init__(self, inputs, parameters, device):
        super().__init__(inputs, parameters, device)
        torch.set_num_threads(device.threads)


class CpuCompiled(Cpu):
    method = "cpu_compiled"
    description = "torch.compile of the forward and backward pass, on the CPU"
    only = (("task", "train"), ("input", "device"))
    execution = "compiled"
    warm_up = True
