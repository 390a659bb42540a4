# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Performance portability of applications over a named set of platforms."""

from __future__ import annotations

from dataclasses import dataclass

from .rows import Row


@dataclass(frozen=True)
class Score:
    """Efficiencies of one application over the platforms, and what sums them up."""

    efficiencies: dict[str, float]  # by platform; a platform not supported is absent
    pp: float  # harmonic mean over the whole set, 0 where one is not supported
    mean: float  # arithmetic, over those supported
    least: float


@dataclass(frozen=True)
class Portability:
    """One application on one problem."""

    application: str  # a model, or the composite native
    problem: str
    platforms: tuple[str, ...]  # the whole set
    support: float  # share of the set on which it ran and passed
    application_efficiency: Score  # against the best variant there
    architecture_efficiency: Score | None  # floor / time; None without ceilings


def portability(rows: list[Row]) -> list[Portability]:
    """Each application on each problem that was measured on two platforms or more."""
    return []
