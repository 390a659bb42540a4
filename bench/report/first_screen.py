# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the README shows first: one sentence, one picture, five rows, drawn from the records of kernels written once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median

from . import units
from .factors import FACTORS
from .fields import Broken
from .figures import Figure, screen
from .gaps import Gap, gaps
from .means import means
from .published_figures import markdown
from .published_records import read, resident
from .rows import Row
from .selection import NO_ALGORITHMS, time
from .table import markdown_table

GPU: tuple[str, ...] = (
    "h200-written-once",
    "h200-regressions-once",
    "h200-classifiers-once",
)
HOST: tuple[str, ...] = (
    "xeon-written-once",
    "xeon-regressions-once",
    "xeon-classifiers-once",
)
MNIST = ("f32 train=52,500",)
FIVE = (  # title; algorithm; what the name of its problem holds on the GPU; on the host
    ("sum", "sum", ("f32 n=2^30",), ("f32 n=2^28",)),
    ("stencil, 7 points", "stencil", ("f32 n=1,024",), ("f32 n=512",)),
    (
        *("logistic regression, 8 features", "logistic_regression"),
        *(("f32 rows=50M", "features=8 "), ("f32 rows=20M", "features=8 ")),
    ),
    ("k-NN, MNIST", "knn", MNIST, MNIST),
    ("network, MNIST", "cnn", ("f32", "batch=1,024"), ("f32", "batch=1,024")),
)
MORE = (  # of the picture
    ("vector_add", ("f32 n=2^28",)),
    ("distance_matrix", ("f32 n=32,768",)),
    ("linear_regression", ("f32 points=10M", "features=8 ")),
    ("polynomial_fit", ("f32 points=30M",)),
    ("softmax_regression", MNIST),
)
COLUMNS = (
    *("problem", "flat", "written once", "CUDA, same method", "best of all"),
    *("once / CUDA", "once / OpenMP, 16 threads", "largest factor of the gap"),
)
NOTABLE = 1.05  # a factor that is told


def rows_of(results: Path, folders: Iterable[str]) -> list[Row]:
    """Those of all folders whose data are where the device is."""
    return [row for name in folders for row in resident(results / name)]


def found(rows: list[Row]) -> list[Gap]:
    """The gaps of algorithms that have written-once code."""
    return [g for g in gaps(rows) if g.algorithm not in NO_ALGORITHMS and g.once]


def picture(results: Path) -> Figure:
    """A problem of each algorithm; raises Broken."""
    known = found(rows_of(results, GPU))
    shown = [(algorithm, parts) for _, algorithm, parts, _ in FIVE]
    return screen.figure([one(known, *which) for which in (*shown, *MORE)])


def draw(results: Path, shown: Figure) -> list[str]:
    """The parts of the text, with the picture; raises Broken."""
    rows = {where: rows_of(results, where) for where in (GPU, HOST)}
    known = {where: found(some) for where, some in rows.items()}
    lines = [
        line(
            title,
            algorithm,
            one(known[GPU], algorithm, gpu),
            one(known[HOST], algorithm, host),
        )
        for title, algorithm, gpu, host in FIVE
    ]
    return [
        sentence(rows),
        markdown([shown], ""),
        markdown_table(COLUMNS, lines),
        under(results),
    ]


def one(known: list[Gap], algorithm: str, parts: tuple[str, ...]) -> Gap:
    """The gap of the problem whose name has these parts; raises Broken unless there is one."""
    there = [
        gap
        for gap in known
        if gap.algorithm == algorithm
        and f"{gap.problem} ".startswith(parts[0])
        and all(part in f"{gap.problem} " for part in parts)
    ]
    if len(there) != 1:
        raise Broken(
            f"first screen: {len(there)} problems of {algorithm} with {' and '.join(parts)}, not one"
        )
    return there[0]


def sentence(rows: dict[tuple[str, ...], list[Row]]) -> str:
    """What code costs that is written once, on both kinds of device."""
    middle, worst, count = [], [], []
    for where in (GPU, HOST):
        ratios = [r for one in means(rows[where]) for r in one.pairs.ratios.values()]
        middle.append(f"{median(ratios):.2f}")
        worst.append(units.plain(max(ratios)))
        count.append(str(len(ratios)))
    return (
        "On an NVIDIA H200 and on 16 threads of an Intel Xeon, kernels with **one body for both** take a median of "
        f"**{' and '.join(middle)}** times as long as hand-written kernels of the same method "
        f"(worst {' and '.join(worst)}; {' and '.join(count)} pairs).\n"
    )


def line(title: str, algorithm: str, gpu: Gap, host: Gap) -> tuple[str, ...]:
    """One of the five rows."""
    times = (gpu.flat, gpu.once, gpu.native, gpu.best)
    value, name = max((gpu.factors[n].value, n) for n in FACTORS if n in gpu.factors)
    best = gpu.best.case
    why = f"{name} {units.plain(value)}: {best.method} in {best.model}"
    return (
        f"[{title}](algorithms/{algorithm}/README.md)",
        *(units.seconds(time(row)) if row else "" for row in times),
        *(f"{gap.ratio.value:.2f}" if gap.ratio else "" for gap in (gpu, host)),
        why if value > NOTABLE else "",
    )


def under(results: Path) -> str:
    """Where the numbers are from."""
    links = [f"[{name}](bench/results/{name}/table.md)" for name in (*GPU, *HOST)]
    built = {
        case.context.build.kokkos
        for name in (*GPU, *HOST)
        for case in read(results / name)[0]
    }
    return (
        "Times in f32. Best of all: of Kokkos and native code; libraries and Python are in [bench/results](bench/results/README.md). "
        f"Kokkos {', '.join(sorted(built))}; devices, samples, builds and dates: {', '.join(links)}.\n"
    )
