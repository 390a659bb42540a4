# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All analyses of the rows, each also as lines of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from . import (
    crossovers,
    detectable,
    expected,
    gap_texts,
    gaps,
    launches,
    learning,
    lines,
    literature,
    means,
    nulls,
    portability,
    scaling,
    shape_texts,
    shapes,
    slower,
    sweeps,
    unresolved,
)
from .rows import Row
from .selection import of_study


@dataclass(frozen=True)
class Findings:
    """The analyses of one report; each is empty where the rows do not allow it."""

    nulls: nulls.NullTests
    gaps: list[gaps.Gap]
    means: list[means.Means]
    sweeps: list[sweeps.Sweep]
    device_crossovers: list[crossovers.DeviceCrossover]
    end_to_end: list[crossovers.DeviceCrossover]
    scalings: list[scaling.Scaling]
    maps: list[launches.LaunchMap]
    portability: list[portability.Portability]
    trainings: list[learning.Training]
    unexpected: list[expected.Unexpected]
    shapes: list[shapes.ShapeStudy]
    detectable: list[str]
    slower: list[str]  # pairs of Kokkos and native
    margin: float

    def texts(self) -> list[str]:
        """Problems first; then null tests and unresolved ratios, which show how reliable verdicts are."""
        return [
            *expected.texts(self.unexpected),
            *nulls.texts(self.nulls),
            *unresolved.texts(self.gaps, self.margin),
            *self.detectable,
            *shape_texts.texts(self.shapes),
            *learning.texts(self.trainings),
            *means.texts(self.means),
            *gap_texts.texts(self.gaps),
            *self.slower,
            *sweeps.texts(self.sweeps),
            *crossovers.texts(self.device_crossovers),
            *crossovers.texts(self.end_to_end),
            *scaling.texts(self.scalings),
            *launches.texts(self.maps, self.margin),
            *portability.texts(self.portability),
            *literature.texts(self.gaps),
        ]


def analyse(
    rows: list[Row],
    margin: float,
    builds: Mapping[str, lines.Build] = lines.NO_BUILDS,
) -> Findings:
    """All analyses of these rows; `builds`: lines with machine code, by preset."""
    return Findings(
        nulls.nulls(rows, margin),
        gaps.gaps(rows),
        means.means(rows),
        sweeps.sweeps(rows),
        crossovers.device_crossovers(rows),
        crossovers.end_to_end_crossovers(rows),
        scaling.scalings(rows),
        launches.maps(rows),
        portability.portability(rows, builds),
        learning.trainings(rows),
        expected.unexpected(rows),
        shapes.studies(rows),
        detectable.texts(row.detectable for row in of_study(rows)),
        slower.texts(slower.slower(rows), builds),
        margin,
    )
