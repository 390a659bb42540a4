# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of drawn shapes, as cells of a table and as lines of text."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .selection import time, variant
from .shapes import LARGEST_REGRET, LEVEL, NEAR, SLOWER, Shape, ShapeStudy
from .units import seconds

WORST = 10  # shapes in a table
NAMED = 3  # in a line of text
BOUNDS = (
    "The bound of a shape: max(roofline, measured latency of its steps). "
    "A shape that no own variant solved, or whose bound is not known, is a miss."
)
COLUMNS = ("shape", "device", "best variant", "time", "bound", "time / bound")
NUMBERS = COLUMNS[3:]


def cells(shapes: Iterable[Shape]) -> list[tuple[str, ...]]:
    """A row of texts by COLUMNS for each shape."""
    return [
        (
            shape.title,
            shape.device,
            variant(shape.best.case) if shape.best else shape.reason,
            seconds(time(shape.best)) if shape.best else "",
            seconds(shape.bound) if shape.bound else shape.reason,
            f"{shape.ratio:.2f}" if math.isfinite(shape.ratio) else "miss",
        )
        for shape in shapes
    ]


def texts(found: list[ShapeStudy]) -> list[str]:
    """The goals of each device, and the shapes farthest from them."""
    return [line for study in found for line in study_texts(study)]


def study_texts(study: ShapeStudy) -> list[str]:
    """The lines of one device."""
    lines = [str(goal) for goal in study.goals]
    without = [shape for shape in study.shapes if not shape.best]
    if without:
        failed = sum(shape.reason.startswith("FAILED") for shape in without)
        lines.append(f"no own variant solved {len(without)} ({failed} FAILED)")
    unknown = [shape for shape in study.shapes if shape.best and not shape.bound]
    if unknown:
        reasons = "; ".join(dict.fromkeys(shape.reason for shape in unknown))
        lines.append(f"{len(unknown)} without a bound count as misses: {reasons}")
    named = [
        f"{what}: {', '.join(some)}" for what, some in worst(study).items() if some
    ]
    head = f"{len(study.shapes)} shapes, {study.device}"
    return [f"{head}: {line}" for line in (*lines, *named)]


def worst(study: ShapeStudy) -> dict[str, list[str]]:
    """What is farthest from each goal, worst first."""
    shapes = [shape for shape in study.shapes if NEAR < shape.ratio < math.inf]
    pairs = sorted(study.pairs, key=lambda pair: -pair[1].ratio)
    behind = [(shape, pair) for shape, pair in pairs if pair.ratio > LEVEL]
    slower = sorted(study.with_library, key=lambda shape: -shape.to_library)
    slow = [shape for shape in slower if shape.to_library > SLOWER]
    regrets = sorted(study.regrets, key=lambda regret: -regret[1].value)
    return {
        "farthest from the bound": [
            f"{shape.title} {shape.ratio:.1f} x" for shape in shapes[:NAMED]
        ],
        "portable farthest behind native": [
            f"{shape.title} {pair.method} {pair.text}" for shape, pair in behind[:NAMED]
        ],
        "farthest behind a library": [
            f"{shape.title} {library_text(shape)}" for shape in slow[:NAMED]
        ],
        "automatic farthest behind tuned": [
            f"{shape.title} {variant(one.tuned.case)} {100 * one.value:.0f} %"
            for shape, one in regrets[:NAMED]
            if one.value > LARGEST_REGRET
        ],
    }


def library_text(shape: Shape) -> str:
    """``1.50 x cublas gram``. @pre a library"""
    assert shape.library is not None
    case = shape.library.case
    ratio = f"{shape.to_library:.2f} x" if shape.best else "unsolved,"
    return f"{ratio} {case.model} {case.method_text}"
