# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the README shows first: one sentence, one picture, five rows, drawn from the records of kernels written once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from . import units
from .factors import FACTORS
from .fields import Broken
from .figures import Figure, screen
from .figures.figure import device_name
from .gaps import Gap, gaps
from .means import means
from .options import MARGIN
from .published_figures import markdown
from .published_records import ONCE_GPU, ONCE_HOST, resident
from .ratios import judge
from .rows import Row
from .selection import NO_ALGORITHMS, time
from .table import markdown_table

FIVE = (  # title; algorithm; what the name of its problem begins with and holds on the GPU; on the host
    ("sum", "sum", ("f32 n=2^30",), ("f32 n=2^28",)),
    ("stencil, 7 points", "stencil", ("f32 n=1,024",), ("f32 n=512",)),
    (
        *("logistic regression, 8 features", "logistic_regression"),
        *(("f32 rows=50M", "features=8 "), ("f32 rows=20M", "features=8 ")),
    ),
    (
        *("linear regression, 8 features", "linear_regression"),
        *(("f32 points=10M", "features=8 "), ("f32 points=3M", "features=8 ")),
    ),
    (
        *("distances, 3 coordinates", "distance_matrix"),
        *(("f32 n=32,768",), ("f32 n=16,384",)),
    ),
)
MORE = (  # of the picture
    ("vector_add", ("f32 n=2^28",)),
    ("polynomial_fit", ("f32 points=30M",)),
)
COLUMNS = (
    *("problem", "flat", "written once", "CUDA, same method", "best of all"),
    *("once / CUDA", "once / OpenMP", "largest factor of the gap"),
)
NOTABLE = 1.05  # a factor that is told


def rows_of(results: Path, folders: Iterable[str]) -> list[Row]:
    """Those of all folders whose data are where the device is."""
    return [row for name in folders for row in resident(results / name)]


def found(rows: list[Row]) -> list[Gap]:
    """The gaps of algorithms that have written-once code."""
    return [g for g in gaps(rows) if g.algorithm not in NO_ALGORITHMS and g.once]


@dataclass(frozen=True)
class FirstScreen:
    """Its parts, in their order."""

    sentence: str
    picture: Figure
    table: str
    under: str

    @property
    def parts(self) -> list[str]:
        """As text, with the picture."""
        return [self.sentence, markdown([self.picture], ""), self.table, self.under]


def made(results: Path) -> FirstScreen:
    """From the published records; raises Broken."""
    rows: dict[tuple[str, ...], list[Row]] = {
        where: rows_of(results, where) for where in (ONCE_GPU, ONCE_HOST)
    }
    told = sentence(rows)
    gpu, host = (found(some) for some in rows.values())
    five = [(title, one(gpu, name, here)) for title, name, here, _ in FIVE]
    there = [one(host, name, parts) for _, name, _, parts in FIVE]
    more = [(name, one(gpu, name, parts)) for name, parts in MORE]
    return FirstScreen(
        told,
        screen.figure([*five, *more]),
        markdown_table(
            COLUMNS, [line(*that, other) for that, other in zip(five, there)]
        ),
        under(more),
    )


def one(known: list[Gap], algorithm: str, parts: tuple[str, ...]) -> Gap:
    """The gap of the problem whose name begins with the first part and has the others; raises Broken unless there is one."""
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
    """What code costs that is written once, by the rows of each kind of device; raises Broken unless that is one device."""
    devices, middle, half, worst = [], [], [], []
    algorithms: set[str] = set()
    for where, some in rows.items():
        known = means(some)
        if len(known) != 1:
            names = ", ".join(one.device for one in known) or "none"
            raise Broken(f"first screen: one device in {', '.join(where)}, not {names}")
        ratios = list(known[0].pairs.ratios.values())
        if len(ratios) < 2:
            raise Broken(f"first screen: fewer than two pairs in {', '.join(where)}")
        low, median, high = quantiles(ratios, n=4, method="inclusive")
        devices.append(device_name(known[0].device))
        algorithms |= {problem.split()[0] for problem, _ in known[0].pairs.ratios}
        middle.append(f"{median:.2f}")
        half.append(f"of {len(ratios)} pairs half lie between {low:.2f} and {high:.2f}")
        worst.append(f"the worst at {units.plain(max(ratios))}")
    spread = "; ".join(", ".join(texts) for texts in zip(half, worst))
    return (
        f"On one {' and on one '.join(devices)}, kernels with **one body for both** take a median of **{' and '.join(middle)}** times as long "
        f"as hand-written kernels of the same method, at default launches; {len(algorithms)} algorithms ({spread}).\n"
    )


def line(title: str, gpu: Gap, host: Gap) -> tuple[str, ...]:
    """One of the five rows."""
    times = (gpu.flat, gpu.once, gpu.native, gpu.best)
    return (
        f"[{title}](algorithms/{gpu.algorithm}/README.md)",
        *(units.seconds(time(row)) if row else "" for row in times),
        *map(ratio_text, (gpu, host)),
        factor(gpu),
    )


def ratio_text(gap: Gap) -> str:
    """Written once over native; with a question mark where the interval does not tell which is faster."""
    if gap.ratio is None:
        return ""
    unknown = judge(gap.ratio, MARGIN) in ("", "unresolved")
    return f"{gap.ratio.value:.2f}{' ?' * unknown}"


def factor(gap: Gap) -> str:
    """``reach 22.8 (cuda wgmma)``: the largest, and the code that it is a ratio to."""
    value, name = max(
        (gap.factors[name].value, name) for name in FACTORS if name in gap.factors
    )
    if value <= NOTABLE:
        return ""
    to = {"tuning": gap.once, "language": gap.native, "library": gap.best}
    row = to.get(name, gap.fastest_native)
    who = f" ({row.case.model} {row.case.method})" if row else ""
    return f"{name} {units.plain(value)}{who}"


def under(others: list[tuple[str, Gap]]) -> str:
    """What the five rows leave out, and where the numbers are from."""
    ratios = ", ".join(f"{name} {ratio_text(gap)}" for name, gap in others)
    links = [
        f"[{name}](bench/results/{name}/table.md)" for name in (*ONCE_GPU, *ONCE_HOST)
    ]
    kokkos = {gap.row.case.context.build.kokkos for _, gap in others}
    return (
        f"Once / CUDA of {ratios}. f32; a question mark: not resolved. Problems on the processor are smaller. "
        f"Best of all: of these records; most libraries, and Python, are in [bench/results](bench/results/README.md). "
        f"Kokkos {', '.join(sorted(kokkos))}; {', '.join(links)}.\n"
    )
