# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of the checks, accuracies and losses: which are equal in all variants of a problem."""

from __future__ import annotations

from .rows import Row

LABELS = {
    "accuracy": "share of test rows that are right",
    "train_loss": "loss on the training rows",
    "test_mse": "mean squared error on the test rows",
    "loss": "loss on the training rows",
    "last_loss": "loss after the last step",
}


def values(key: str, rows: list[Row]) -> list[float]:
    """The values of a figure in the variants that have it."""
    return [row.case.figures[key] for row in rows if key in row.case.figures]


def spread(key: str, rows: list[Row]) -> str:
    """``0.97``, or ``0.96 and 0.97``: the ends, to six digits."""
    found = values(key, rows)
    ends = (round(end, 9) for end in (min(found), max(found)))
    return " and ".join(dict.fromkeys(f"{end:.6g}" for end in ends))


def known(rows: list[Row]) -> list[str]:
    """The figures that two variants or more have."""
    return [key for key in LABELS if len(values(key, rows)) > 1]


def differing(rows: list[Row]) -> list[str]:
    """Those in which the variants differ."""
    return [key for key in known(rows) if " and " in spread(key, rows)]


def agreement(rows: list[Row]) -> str:
    """The figures on which the variants agree, as sentences for a caption."""
    same = [key for key in known(rows) if key not in differing(rows)]
    return "".join(
        f" The {LABELS[key]} is {spread(key, rows)} in all of them." for key in same
    )
