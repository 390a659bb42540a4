# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A CSV for the P3 analysis library (github.com/P3HPC/p3-analysis-library).

One line per problem, platform and application; what did not run has no line, since the
library counts missing ones as zero. The figure of merit is the time: lower is better.
Several platforms are one report of several folders: files put together name a problem
differently, and the library refuses two lines of one application on one platform. Where
kokkos was never built, its PP there is 0 for the library, and in the report not counted.
The library takes one problem at a time:

    frame = pandas.read_csv("p3.csv")
    for _, problem in frame.groupby(["kernel", "n", "precision"]):
        data = p3analysis.data.projection(problem, problem=["kernel", "n", "precision"],
                                          application=["variant"], platform=["platform"])
        data = p3analysis.metrics.application_efficiency(data, foms="lower")
        print(p3analysis.metrics.pp(data))

With lines that have machine code (``--lines``), ``coverage_key`` names a variant in a build, and
coverage.csv has its lines, for the library's ``divergence``:

    print(p3analysis.metrics.divergence(data, pandas.read_csv("coverage.csv")))

``pp`` takes the column ``arch eff`` as well, of problems in which every line has one: it
is empty without ceilings, and where the data lie in a cache.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from .case import Case
from .csv_text import figure, written
from .lines import NO_BUILDS, Build, Used, used_by
from .portability import Best, best_of, grouped
from .rows import Row
from .selection import time

COLUMNS = [
    "suite",
    "kernel",
    "n",
    "precision",
    "variant",
    "backend",
    "platform",
    "arch",
    "compiler",
    "kokkos",
    "git",
    "date",
    "fom",
    "fom_kind",
    "time_s",
    "bytes",
    "flops",
    "reps",
    "launches",
    "ci_lo",
    "ci_hi",
    "app eff",
    "arch eff",
    "coverage_key",
    "valid",
]


def to_p3(rows: list[Row], builds: Mapping[str, Build] = NO_BUILDS) -> str:
    """The whole CSV; `builds`: lines with machine code, by preset."""
    lines = []
    for platforms in grouped(rows).values():
        for platform, some in platforms.items():
            best = best_of(some)
            for application, row in best.by_application.items():
                cells = line(application, platform, row, best)
                lines.append({**cells, "coverage_key": key(row.case, builds)})
    return written(lines, COLUMNS)


def key(case: Case, builds: Mapping[str, Build]) -> str:
    """Names a variant in a build; empty where its lines are not known."""
    names = (case.context.build.preset, case.algorithm, case.method, case.model)
    return "/".join(names) if used_by(case, builds) else ""


def to_coverage(rows: list[Row], builds: Mapping[str, Build]) -> str:
    """The lines behind every ``coverage_key``, as JSON in a CSV."""
    found = {key(row.case, builds): used_by(row.case, builds) for row in rows}
    columns = ("coverage_key", "coverage")
    lines = (
        (name, json.dumps(coverage(found[name], found.values())))
        for name in sorted(filter(None, found))
    )
    return written([dict(zip(columns, line)) for line in lines], columns)


def coverage(used: Used, every: Iterable[Used]) -> list[dict[str, object]]:
    """One entry a file; its unused lines are those that another variant uses."""
    files = sorted({file for file, _ in used})
    known = frozenset[tuple[str, int]]().union(*every)
    return [
        {
            "file": file,
            "id": file,
            "used_lines": sorted(n for name, n in used if name == file),
            "unused_lines": sorted(n for name, n in known - used if name == file),
        }
        for file in files
    ]


def line(application: str, platform: str, row: Row, best: Best) -> dict[str, object]:
    """The cells of one application on one platform."""
    case, build = row.case, row.case.context.build
    ratio = row.floor_ratio
    return {
        "suite": "league",
        "kernel": "/".join(filter(None, [case.algorithm, case.problem_name])),
        "n": row.sizes,
        "precision": case.dtype,
        "variant": application,
        "backend": f"{case.model}/{case.method_text}",
        "platform": platform,
        "arch": build.preset,
        "compiler": build.compiler,
        "kokkos": build.kokkos,
        "git": build.git,
        "date": case.context.date,
        "fom": figure(time(row)),
        "fom_kind": "seconds, lower is better",
        "time_s": figure(time(row)),
        "bytes": figure(case.bytes),
        "flops": figure(case.operations),
        "reps": len(case.samples),
        "launches": len(case.launches),
        "ci_lo": figure(row.low),
        "ci_hi": figure(row.high),
        "app eff": figure(best.time / time(row)),
        # the library refuses efficiencies above 1: in a cache, memory is no ceiling
        "arch eff": figure(1 / ratio if ratio and ratio >= 1 else None),
        "valid": True,
    }
