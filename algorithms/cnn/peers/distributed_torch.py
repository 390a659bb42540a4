# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training in DistributedDataParallel: a process per device, as torchrun starts them.

The first process is the peer's own; the others repeat its calls. Each takes its share of every batch, in the
order of the devices.
"""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import tempfile
import traceback
from datetime import timedelta

import numpy as np
import torch
from torch import distributed

from algorithms.cnn.peers.masks_torch import decisions_of
from backends.python import driver
from backends.python.peer import Unsupported

TIMEOUT = timedelta(seconds=120)  # of a collective whose other processes have ended


class Replica(torch.nn.Module):
    """The network with the weights of a training as its parameters."""

    def __init__(self, of):
        super().__init__()
        self.of = of
        of.weights = [torch.nn.Parameter(weight.detach()) for weight in of.weights]
        for n, weight in enumerate(of.weights):
            self.register_parameter(f"weight{n}", weight)

    def forward(self, x, *masks):
        weights = [getattr(self, f"weight{n}") for n in range(len(self.of.weights))]
        return self.of.logits(x, masks, weights)


def follow(channel, method, rank, meeting, *made_from):
    """A process after the first: repeats calls, and answers (result, what went wrong)."""
    peer = driver.variants(driver.load("cnn", "pytorch"))[method](*made_from)
    peer.rank, peer.meeting = rank, meeting
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            call = channel.recv()
            try:
                channel.send((getattr(peer, call)(), ""))
            except Exception:  # noqa: BLE001 (the first process raises it)
                channel.send((None, traceback.format_exc()))


class Distributed:
    """Mixin of an eager training."""

    rank = 0
    meeting = ""  #: file where the processes find each other

    def start(self):
        """The other processes; each has its own copy of the inputs."""
        self.channels, devices = [], self.device.indices
        self.ranks = max(1, len(devices))
        if self.meeting:
            return
        if distributed.is_initialized():  # by an earlier peer
            distributed.destroy_process_group()
        self.folder = tempfile.TemporaryDirectory()
        self.meeting = self.folder.name + "/meeting"
        processes = multiprocessing.get_context("spawn")
        inputs = {name: np.array(values) for name, values in self.inputs.items()}
        for rank, index in enumerate(devices[1:], 1):
            channel, far = processes.Pipe()
            device = dataclasses.replace(self.device, index=index)
            which = (self.method, rank, self.meeting, inputs, self.parameters, device)
            process = processes.Process(target=follow, args=(far, *which), daemon=True)
            process.start()
            far.close()
            self.channels.append(channel)

    def tell(self, call):
        for channel in self.channels:
            channel.send(call)

    def answers(self):
        """Of the other processes to a call."""
        answers = [channel.recv() for channel in self.channels]
        wrong = [error for _, error in answers if error]
        if wrong:
            raise RuntimeError(wrong[0])
        return [result for result, _ in answers]

    def upload(self):
        self.start()
        self.tell("upload")
        on_gpu = self.place.type == "cuda"
        distributed.init_process_group(
            "nccl" if on_gpu else "gloo",
            init_method=f"file://{self.meeting}",
            rank=self.rank,
            world_size=self.ranks,
            timeout=TIMEOUT,
        )
        super().upload()
        self.answers()

    def make_state(self, initial):
        task = self.task
        if min(map(task.images_of, range(task.batches))) < self.ranks:
            raise Unsupported("a batch has fewer images than there are devices")
        self.all_counters = self.counters
        super().make_state(initial)

    def make_optimizer(self):
        on_gpu = self.place.type == "cuda"
        network = torch.nn.parallel.DistributedDataParallel(
            Replica(self), device_ids=[self.place] if on_gpu else None
        )
        self.scores = lambda x, masks: network(x, *(masks or ()))
        return super().make_optimizer()

    def take(self, step):
        first, images = self.task.first_of(step), self.task.images_of(step)
        begin, end = (images * (self.rank + more) // self.ranks for more in (0, 1))
        self.counters = self.all_counters[begin:end]
        #: DDP averages over the processes: the mean over the batch, whatever the shares.
        self.share = self.ranks * (end - begin) / images
        index = self.order[first + begin : first + end]
        self.loss[step] = self.advance(index, self.streams[step : step + 1])

    def loss_of(self, index, stream):
        loss, *seen = super().loss_of(index, stream)
        return loss * self.share, *seen

    def reset(self):
        self.tell("reset")
        super().reset()
        self.answers()

    def compute(self):
        self.tell("compute")
        super().compute()
        losses = self.loss[self.task.warm_up :]
        distributed.all_reduce(losses)
        losses /= self.ranks
        self.answers()

    def fence(self):
        self.tell("fence")
        super().fence()
        self.answers()

    def time(self, count):
        return self.latency(count)  # events on the first GPU do not see the others

    def decisions(self):
        """Of this process's images."""
        found = decisions_of(self.task.network, *self.seen)
        return [values.cpu().numpy() for values in found]

    def download(self):
        self.tell("decisions")
        results, rest = super().download(), self.answers()
        for n, name in enumerate(("pool_decisions", "hidden_decisions")):
            results[name] = np.concatenate([results[name], *(of[n] for of in rest)])
        return results
