# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of what was measured: lines of each variant in each build, and its code convergence; what each file costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bench.report.lines import (
    NOTHING,
    Build,
    Used,
    apportioned,
    convergence,
    whole,
)
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
    used_in_all = whole(builds.values())
    shares = apportioned(used_in_all)
    rows = []
    for algorithm, method, model in ordered(list(used_in_all)):
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


def costs(builds: dict[str, Build]) -> str:
    """Markdown: a row for each file of each build, with the ranges over its kernels."""
    units = [(name, unit) for name, build in builds.items() for unit in build.units]
    known = [code for _, unit in units for code in unit.kernels]
    facts = list(dict.fromkeys(fact for code in known for fact in code.facts))
    numbers = ("compile s", "code bytes", "kernels", *facts)
    rows = [
        [
            unit.algorithm,
            " ".join(unit.methods),
            unit.model,
            name,
            f"{unit.seconds:.1f}",
            str(unit.code_bytes),
            str(len(unit.kernels) or ""),
            *(
                span(code.facts[fact] for code in unit.kernels if fact in code.facts)
                for fact in facts
            ),
        ]
        for name, unit in sorted(
            units, key=lambda one: (one[1].algorithm, one[1].methods, one[1].model)
        )
    ]
    columns = ["algorithm", "methods", "model", "build", *numbers]
    return markdown_table(columns, rows, set(numbers))


def span(values: Iterable[int]) -> str:
    """``24-40``; ``24`` where all are one, nothing of none."""
    some = sorted(values)
    return "-".join(map(str, dict.fromkeys(some[:1] + some[-1:])))


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
