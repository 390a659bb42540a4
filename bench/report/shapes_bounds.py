# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.report.shapes_bounds``: the shapes of one seed under their old bounds and today's.

The bounds of shapes changed on 2026-11-29, so that shares before and after do not compare. The old
bounds of ``bench/results/h200-shapes`` lie beside its records, as the report computed them then:
max(roofline, 5 us + steps x latency), the roofline at one bandwidth and with data counted in every step.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from . import shapes
from .options import MARGIN
from .published_records import read
from .rows import build_rows
from .table import markdown_table

RESULTS = Path(__file__).resolve().parents[1] / "results"
FOLDER = RESULTS / "h200-shapes"
PEAKS = RESULTS / "h200-floors"  # bandwidths of data in the cache, on the same device
OLD = "bounds-until-2026-11-28.csv"
LIMITS = (shapes.NEAR, shapes.FAR)
COLUMNS = (
    *("algorithm", "shapes"),
    *(f"{limit:g} x, old" for limit in LIMITS),
    *(f"{limit:g} x, today" for limit in LIMITS),
    "bound, today / old",
)


def old_bounds(folder: Path) -> dict[str, float | None]:
    """The bound of each comparison until 2026-11-28 [s]."""
    with (folder / OLD).open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return {
        line["comparison"]: float(line["bound_s"]) if line["bound_s"] else None
        for line in lines
    }


def within(found: list[shapes.Shape], limit: float) -> str:
    """How many take at most so many times their bound."""
    return str(sum(shape.ratio <= limit for shape in found))


def line(name: str, before: list[shapes.Shape], now: list[shapes.Shape]) -> list[str]:
    """The cells of some shapes."""
    changes = sorted(
        new.bound / old.bound
        for old, new in zip(before, now)
        if old.bound and new.bound
    )
    middle = f"{changes[len(changes) // 2]:.2g}" if changes else ""
    counts = [within(some, limit) for some in (before, now) for limit in LIMITS]
    return [name, str(len(now)), *counts, middle]


def table(folder: Path) -> str:
    """The table, one line per algorithm and one of all."""
    old = old_bounds(folder)
    rows = build_rows([*read(folder)[0], *read(PEAKS)[0]], MARGIN)
    now = [shape for study in shapes.studies(rows) for shape in study.shapes]
    pairs: dict[str, list[tuple[shapes.Shape, shapes.Shape]]] = defaultdict(list)
    for shape in sorted(now, key=lambda one: one.algorithm):
        before = replace(shape, bound=old.get(shape.rows[0].case.comparison))
        pairs[shape.algorithm].append((before, shape))
        pairs["all"].append((before, shape))
    pairs["all"] = pairs.pop("all")  # last
    lines = [
        line(name, [one for one, _ in some], [one for _, one in some])
        for name, some in pairs.items()
    ]
    return markdown_table(COLUMNS, lines)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        prog="python3 -m bench.report.shapes_bounds",
        description="Prints how many drawn shapes are within 2 and 6 times their bound, under the bounds until 2026-11-28 and today's.",
    )
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    print(table(parser.parse_args().folder))


if __name__ == "__main__":
    main()
