# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batches from host memory, by torch.utils.data.DataLoader: workers, pinned memory, asynchronous copies."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from algorithms.cnn.peers import training


class Images(Dataset):
    """u8 images and their labels as stored; an item is a whole batch, by its indices."""

    def __init__(self, images, labels):
        self.images = torch.from_numpy(images)
        self.labels = torch.from_numpy(labels).long()

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        index = torch.from_numpy(index)
        return self.images[index], self.labels[index]


class Steps:
    """Indices of the images of each of the steps, in the order of all epochs."""

    def __init__(self, task, order):
        self.task, self.order = task, order.flatten().astype(np.int64)
        self.steps = range(0)

    def __len__(self):
        return len(self.steps)

    def __iter__(self):
        for step in self.steps:
            first = self.task.first_of(step)
            yield self.order[first : first + self.task.images_of(step)]


class HostInput:
    """Batches of consecutive steps on the device `place`, loaded by so many worker processes."""

    def __init__(self, inputs, task, place, workers):
        self.place = place
        first = task.network.convolutions[0]
        self.shape = (-1, first.inputs, first.side, first.side)
        pixels = training.scaled(np.arange(256, dtype=np.uint8), task.network)
        self.values = torch.from_numpy(pixels).to(place)
        self.steps = Steps(task, inputs["order"])
        self.loader = DataLoader(
            Images(inputs["train"], inputs["train_labels"]),
            batch_size=None,  # the indices of an item are a batch's
            sampler=self.steps,
            num_workers=workers,
            pin_memory=place.type == "cuda",
            persistent_workers=True,
        )

    def start(self, steps):
        """The next batches are those of these steps."""
        self.steps.steps = steps
        self.batches = iter(self.loader)

    def next(self):
        """f32 [images x planes x side x side], normalised on the device, and labels."""
        images, labels = next(self.batches)
        images = images.to(self.place, non_blocking=True)
        labels = labels.to(self.place, non_blocking=True)
        return self.values[images.long()].view(self.shape), labels
