# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A table of what was measured: lines of each variant in each build, and its code convergence."""

from __future__ import annotations

from collections.abc import Iterator

from bench.report.lines import NOTHING, Build, Used, apportioned, convergence
from bench.report.portability import COMPOSITE
from bench.report.table import markdown_table

GPU, HOST = ("cuda", "hip"), ("openmp",)  # models written by hand for a device
HEADINGS = ("all", "apportioned", "convergence")


def natives(build: Build) -> tuple[str, ...]:
    """The models written by hand for the device that Kokkos runs on in this build."""
    here = {unit.model for unit in build.units}
    return tuple(m for m in GPU if m in here) or HOST


def applications(build: Build, model: str) -> tuple[str, ...]:
    """The models that stand for an application in this build."""
    return natives(build) if model == COMPOSITE else (model,)


def table(builds: dict[str, Build]) -> str:
    """Markdown: a row for each variant, and one for the natives of a method together."""
    names = list(builds)
    variants = list(dict.fromkeys(v for b in builds.values() for v in b.variants()))
    whole = {
        variant: NOTHING.union(*(b.used(*variant) for b in builds.values()))
        for variant in variants
    }
    shares = apportioned(whole)
    rows = []
    for algorithm, method, model in ordered(variants):
        used = [
            NOTHING.union(
                *(b.used(algorithm, method, m) for m in applications(b, model))
            )
            for b in builds.values()
        ]
        share = shares.get((algorithm, method, model))
        cells = [algorithm, method, model, *(str(len(u) or "") for u in used)]
        cells.append(str(len(NOTHING.union(*used))))
        cells.append("" if share is None else f"{share:.1f}")
        rows.append([*cells, converged(used)])
    columns = ["algorithm", "method", "model", *names, *HEADINGS]
    return markdown_table(columns, rows, {*names, *HEADINGS})


def ordered(variants: list[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """By algorithm and method; the natives together come last."""
    by_hand = {*GPU, *HOST}
    for algorithm, method in dict.fromkeys((a, m) for a, m, _ in sorted(variants)):
        models = sorted(m for a, x, m in variants if (a, x) == (algorithm, method))
        yield from ((algorithm, method, model) for model in models)
        if by_hand & set(models):
            yield algorithm, method, COMPOSITE


def converged(used: list[Used]) -> str:
    """Blank for what one build has alone. Of host code in several builds it is what their compilers alone make of it."""
    found = convergence(used)
    return "" if found is None else f"{found:.2f}"
