# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accuracy against epochs: trainings that differ in nothing but their seed, together.

Mean, standard deviation (n - 1) and range are over the seeds. The time to a target is the
median time of a whole training, its tests included, over its number of epochs, times the
number of the first epoch whose measured accuracy reaches the target; epochs count as
equally long, and nothing is interpolated between them. It is the mean over the seeds,
where all of them reach the target.

Trainings with different rounding diverge, so that variants are compared over their
seeds: a permutation test of each variant against all others. Those significant at
LEVEL, divided by the number of tests of a problem (Bonferroni), are reported.
"""

from __future__ import annotations

import statistics as numbers
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from .case import Case
from .permutation import Difference, difference
from .rows import Row
from .selection import (
    devices_text,
    measured,
    text_of,
    time,
    variant,
    work_title,
)
from .units import seconds

CURVE = "accuracy"
TARGETS = (0.9, 0.99)
LEVEL = 0.01  # of all comparisons of a problem together


@dataclass(frozen=True)
class Training:
    """One variant on one problem, over its seeds."""

    title: str  # the problem without its seed
    rows: tuple[Row, ...]  # one per seed

    @property
    def case(self) -> Case:
        """The case of its first seed."""
        return self.rows[0].case

    @property
    def variant(self) -> str:
        """``direct / cuda``."""
        return variant(self.case)

    @property
    def curves(self) -> np.ndarray:
        """[seeds x epochs]."""
        return np.array([row.case.curves[CURVE] for row in self.rows])

    @property
    def last(self) -> list[float]:
        """Accuracies after the last epoch."""
        return [float(value) for value in self.curves[:, -1]]

    @property
    def mean(self) -> float:
        """Of the last accuracies."""
        return numbers.fmean(self.last)

    @property
    def deviation(self) -> float | None:
        """Their standard deviation; None for one seed."""
        return numbers.stdev(self.last) if len(self.rows) > 1 else None

    @property
    def band(self) -> tuple[float, float] | None:
        """The range that the study expects."""
        return self.case.expected.get(CURVE)

    @property
    def outside(self) -> int:
        """How many seeds lie outside the band."""
        low, high = self.band or (0.0, 1.0)
        return sum(not low <= value <= high for value in self.last)

    def reached(self, target: float) -> list[tuple[int, float]]:
        """Of the seeds that reach it: after which epoch, and after what time [s]."""
        found = []
        for row, curve in zip(self.rows, self.curves):
            at = np.flatnonzero(curve >= target)
            if at.size:
                epoch = int(at[0]) + 1
                found.append((epoch, time(row) / len(curve) * epoch))
        return found


def problem_key(case: Case) -> tuple[object, ...]:
    """Equal for trainings that should be equally good: all but seed, variant and device."""
    what = (case.algorithm, case.problem_name, case.dtype)
    return (*what, text_of(case.sizes), text_of(case.parameters, "seed"))


def trainings(rows: list[Row]) -> list[Training]:
    """All variants whose checks recorded a curve, in the order of the rows."""
    groups: dict[tuple[object, ...], dict[object, Row]] = defaultdict(dict)
    for row in measured(rows):
        case = row.case
        if not case.curves.get(CURVE):
            continue
        device = (case.devices, case.device_kind, case.device_name, case.context.build)
        how = (case.method_text, case.model, case.setting)
        seeds = groups[(*problem_key(case), *how, *device)]
        seeds.setdefault(case.parameters.get("seed"), row)
    found = []
    for group in groups.values():
        first = next(iter(group.values()))
        title = without_seed(work_title(first))
        epochs = len(first.case.curves[CURVE])
        same = (r for r in group.values() if len(r.case.curves[CURVE]) == epochs)
        found.append(Training(title, tuple(same)))
    return found


def without_seed(title: str) -> str:
    """A title for all seeds."""
    return " ".join(word for word in title.split() if not word.startswith("seed="))


def by_problem(found: list[Training]) -> list[list[Training]]:
    """Trainings grouped by problem_key."""
    groups: dict[tuple[object, ...], list[Training]] = {}
    for one in found:
        groups.setdefault(problem_key(one.case), []).append(one)
    return list(groups.values())


def differences(group: list[Training]) -> list[tuple[Training, Difference]]:
    """The variants of one problem that differ significantly."""
    curves = [one.curves for one in group]
    if len({one.shape[1] for one in curves}) > 1:
        return []
    count = 1 if len(group) == 2 else len(group)  # of two, both tests are one
    found = [
        (one, difference(own, curves[:place] + curves[place + 1 :], LEVEL / count))
        for place, (one, own) in enumerate(zip(group, curves))
    ]
    return [(one, test) for one, test in found if test and test.p <= LEVEL / count]


def per_cent(value: float | None) -> str:
    """``99.12 %``; empty for none."""
    return "" if value is None else f"{100 * value:.2f} %"


def points(value: float | None) -> str:
    """``0.05 points``: of a difference of accuracies; empty for none."""
    return "" if value is None else f"{100 * value:.2f} points"


def target_text(one: Training, target: float) -> str:
    """``0.94 s (epoch 3)``; where not all seeds reach it, how many do."""
    found, seeds = one.reached(target), len(one.rows)
    if len(found) < seeds:
        return f"{len(found)} of {seeds} seeds" if found else "never"
    epochs = sorted({epoch for epoch, _ in found})
    ends = "-".join(str(n) for n in dict.fromkeys([epochs[0], epochs[-1]]))
    plural = "s" if len(epochs) > 1 else ""
    mean = numbers.fmean(moment for _, moment in found)
    return f"{seconds(mean)} (epoch{plural} {ends})"


COLUMNS = (
    *("training", "variant", "device", "seeds", "epochs", "accuracy", "deviation"),
    *("minimum", "maximum", *(f"time to {100 * t:g} %" for t in TARGETS), "expected"),
)
NUMBERS = ("seeds", "epochs", *COLUMNS[5:9])


def expected_text(one: Training) -> str:
    """``98.85-99.40 %``, and how many seeds lie outside."""
    if one.band is None:
        return ""
    low, high = (100 * end for end in one.band)
    outside = f": {one.outside} outside" if one.outside else ""
    return f"{low:.2f}-{high:.2f} %{outside}"


def cells(found: list[Training]) -> list[tuple[str, ...]]:
    """The table, a row per variant."""
    return [
        (
            *(one.title, one.variant, devices_text(one.case), str(len(one.rows))),
            *(str(one.curves.shape[1]), per_cent(one.mean), points(one.deviation)),
            *(per_cent(min(one.last)), per_cent(max(one.last))),
            *(target_text(one, target) for target in TARGETS),
            expected_text(one),
        )
        for one in found
    ]


def texts(found: list[Training]) -> list[str]:
    """Variants that differ significantly, then one line per training."""
    lines = []
    for group in by_problem(found):
        for one, odd in differences(group):
            who = f"{one.variant}, {devices_text(one.case)}"
            lines.append(
                f"ACCURACY of {who}, is {100 * odd.size:+.2f} points off that of the "
                f"other variants after epoch {odd.column + 1} (permutation test over "
                f"the seeds, p = {odd.p:.2g}): {one.title}"
            )
    return lines + [summary(one) for one in found]


def summary(one: Training) -> str:
    """``test accuracy of cnn f32 ..., direct / cuda, NVIDIA H200, after 14 epochs: 99.12 % ...``."""
    seeds, epochs = one.curves.shape
    spread = f"range {per_cent(min(one.last))} to {per_cent(max(one.last))}, "
    if one.deviation is not None:
        spread = f"standard deviation {points(one.deviation)}, {spread}"
    times = (f"{100 * t:g} %: {target_text(one, t)}" for t in TARGETS)
    return (
        f"test accuracy of {one.title}, {one.variant}, {devices_text(one.case)}, after "
        f"{epochs} epoch{'s' if epochs > 1 else ''}: mean {per_cent(one.mean)} "
        f"({spread}{seeds} seed{'s' if seeds > 1 else ''}); time to {', to '.join(times)}"
    )
