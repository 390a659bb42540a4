# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by the k-NN peers on PyTorch tensors; for the exactness of pixels see `neighbours.py`."""

from __future__ import annotations

import torch

VALUES = 1 << 28  # of differences to the neighbours found


def packed(rows: torch.Tensor, pixels: bool, dtype: torch.dtype) -> torch.Tensor:
    """Rows converted for the product: pixels minus 128, exact even in bf16."""
    return rows.to(dtype) - 128 if pixels else rows.to(dtype)


def squares(train: torch.Tensor, test: torch.Tensor) -> torch.Tensor:
    """Squared distances in double."""
    return (train.double() - test.double()).square_().sum(-1)


def smallest(keys: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Columns of the k smallest keys of each row, and whether the next one ties with the last."""
    values, found = torch.topk(keys, min(k + 1, keys.shape[1]), largest=False)
    if found.shape[1] == k:
        return found, torch.zeros(len(keys), dtype=torch.bool, device=keys.device)
    return found[:, :k], values[:, k - 1] == values[:, k]


def votes_of(rule: str, labels: torch.Tensor, distances: torch.Tensor) -> torch.Tensor:
    """The label with the most votes of [rows x k] neighbours, the lowest of equal ones.

    Votes are added in the order of the neighbours, as in every variant.
    """
    if rule == "eps":
        votes = 1 / (distances + 1e-5)
    elif rule == "inverse":
        exact = distances == 0
        votes = torch.where(exact[:, :1], exact.double(), 1 / distances)
    else:
        votes = torch.ones_like(distances)
    sums = torch.zeros_like(distances)
    for j in range(labels.shape[1]):
        sums += torch.where(labels == labels[:, j : j + 1], votes[:, j : j + 1], 0)
    winners = sums == sums.amax(1, keepdim=True)
    return torch.where(winners, labels, torch.iinfo(torch.int32).max).amin(1)


def finish(
    train: torch.Tensor,
    labels: torch.Tensor,
    test: torch.Tensor,
    found: torch.Tensor,
    rule: str,
) -> dict[str, torch.Tensor]:
    """Results from [rows x k] neighbours in any order: by (distance in double, index), and their vote."""
    found = found.sort(1).values
    block = max(1, VALUES // (8 * found.shape[1] * train.shape[1]))
    parts = zip(found.split(block), test.split(block), strict=True)
    squared = torch.cat([squares(train[rows], x[:, None]) for rows, x in parts])
    return voted(labels, found, squared, rule)


def voted(
    labels: torch.Tensor, found: torch.Tensor, squared: torch.Tensor, rule: str
) -> dict[str, torch.Tensor]:
    """Results from [rows x k] neighbours by index, and their squared distances in double."""
    squared, order = squared.sort(dim=1, stable=True)
    found, distances = found.gather(1, order), squared.sqrt()
    winners = votes_of(rule, labels[found], distances)
    return {"labels": winners, "neighbours": found, "neighbour_distances": distances}
