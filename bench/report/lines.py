# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which source lines of a variant have machine code in each build, and how far builds share them.

``python3 -m bench.lines`` measures them and writes the file that this module reads (its schema is in
bench/README.md). A line is one of the algorithm's folder or of ``algorithms/blocks``. Between two platforms the
distance of a program is the Jaccard distance of the lines that each uses; its code divergence is the mean over all
pairs of platforms, its code convergence 1 minus that (Harrell, Kitson 2018, doi:10.1109/P3HPC.2018.00006; Pennycook,
Sewall, Jacobsen, Deakin, McIntosh-Smith 2021, doi:10.1109/MCSE.2021.3097276).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec

from .case import Case, Metric
from .codes import Code

SCHEMA = 2

# What the code of a variant costs, as metrics of a case.
LINES = Metric("source_lines", "", "launch")
COMPILE, CODE = (
    Metric("compile_time", "s", "launch"),
    Metric("code_size", "B", "launch"),
)

Used = frozenset[tuple[str, int]]  # lines: a file from the root, and a number from 1 on
NOTHING: Used = frozenset()


class BadLines(Exception):
    """The file is not one of lines with machine code; the message names it."""


@dataclass(frozen=True)
class Unit:
    """One object file: the finest that a line is attributed to."""

    algorithm: str
    model: str
    methods: tuple[str, ...]  # registered in its source; empty: all of the model
    source: str  # from the root
    used: Used
    same_code: bool | None = (
        None  # as without line tables; None where it was not compared
    )
    seconds: float = 0.0  # of processors, to compile it
    code_bytes: int = 0  # of machine code: for GPUs where it has any, else for hosts
    kernels: tuple[Code, ...] = ()  # of GPUs

    def holds(self, algorithm: str, method: str, model: str) -> bool:
        """Whether the variant is in this object."""
        here = (self.algorithm, self.model) == (algorithm, model)
        return here and (not self.methods or method in self.methods)


@dataclass(frozen=True)
class Build:
    """The objects of one build."""

    name: str  # its preset
    commit: str
    compilers: tuple[str, ...]
    units: tuple[Unit, ...]

    def used(self, algorithm: str, method: str, model: str) -> Used:
        """Lines of a variant that have machine code here; none where it was not compiled.

        An object with several methods counts whole for each of them.
        """
        held = (u.used for u in self.units if u.holds(algorithm, method, model))
        return NOTHING.union(*held)

    def codes(self, case: Case) -> dict[str, Code]:
        """The kernels in the objects of a case's variant, by name."""
        names = (case.algorithm, case.method, case.model)
        held = (unit.kernels for unit in self.units if unit.holds(*names))
        return {code.name: code for some in held for code in some}

    def variants(self) -> list[tuple[str, str, str]]:
        """Algorithm, method and model of all that the objects hold, in order; no method where the source names none."""
        names = (
            (unit.algorithm, method, unit.model)
            for unit in self.units
            for method in unit.methods or ("",)
        )
        return list(dict.fromkeys(names))


NO_BUILDS: Mapping[str, Build] = {}


def used_by(case: Case, builds: Mapping[str, Build]) -> Used:
    """Lines of a case's variant in the build that it was measured with; none where they are not known."""
    here = builds.get(case.context.build.preset)
    return here.used(case.algorithm, case.method, case.model) if here else NOTHING


def whole(builds: Iterable[Build]) -> dict[tuple[str, str, str], Used]:
    """The lines of each variant in any of these builds."""
    some = list(builds)
    variants = dict.fromkeys(variant for one in some for variant in one.variants())
    return {
        variant: NOTHING.union(*(one.used(*variant) for one in some))
        for variant in variants
    }


def add_metrics(cases: Iterable[Case], builds: Mapping[str, Build]) -> None:
    """What the code of a case costs, as metrics of it: as they are in the build that it was measured with, and its
    apportioned lines in all builds."""
    shares = apportioned(whole(builds.values()))
    for case in cases:
        build = builds.get(case.context.build.preset)
        names = (case.algorithm, case.method, case.model)
        units = [unit for unit in build.units if unit.holds(*names)] if build else []
        if not units or not case.launches:
            continue
        all_of_model = (case.algorithm, "", case.model)  # where sources name no methods
        share = shares[names if names in shares else all_of_model]
        costs = {
            LINES: round(share, 1),
            COMPILE: round(sum(unit.seconds for unit in units), 1),
            CODE: float(sum(unit.code_bytes for unit in units)),
        }
        for metric, value in costs.items():
            case.metrics[metric] = {launch: [value] for launch in case.launches}


def source_lines(case: Case) -> float:
    """Its apportioned lines; 0 where they are not known."""
    return next(iter(case.metrics.get(LINES, {"": [0.0]}).values()))[0]


def distance(one: Used, other: Used) -> float:
    """The Jaccard distance: 0 where both are the same lines, 1 where they share none."""
    return 1 - len(one & other) / len(one | other) if one | other else 0.0


def convergence(platforms: Sequence[Used]) -> float | None:
    """Code convergence over the platforms that have any line; None for fewer than two."""
    pairs = list(combinations([used for used in platforms if used], 2))
    if not pairs:
        return None
    return 1 - sum(distance(*pair) for pair in pairs) / len(pairs)


def apportioned(
    variants: dict[tuple[str, str, str], Used],
) -> dict[tuple[str, str, str], float]:
    """Lines of each variant, where one that k variants use counts 1 / k for each: the sum is the number of lines."""
    shared = Counter(line for used in variants.values() for line in used)
    return {
        variant: sum(1 / shared[line] for line in used)
        for variant, used in variants.items()
    }


def to_ranges(numbers: Iterable[int]) -> str:
    """``3-5,9`` of 3, 4, 5 and 9."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ",".join("-".join(map(str, run)) for run in runs)


def from_ranges(text: str) -> list[int]:
    """The numbers again."""
    found: list[int] = []
    for run in text.split(",") if text else []:
        first, _, last = run.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def to_json(builds: Iterable[Build]) -> str:
    """The text of the file."""
    return json.dumps(
        {"schema": SCHEMA, "builds": [entry(one) for one in builds]}, indent=1
    )


def entry(build: Build) -> dict[str, object]:
    """A build in the file."""
    units = []
    for unit in build.units:
        files: dict[str, list[int]] = {}
        for file, number in sorted(unit.used):
            files.setdefault(file, []).append(number)
        units.append(
            {
                "algorithm": unit.algorithm,
                "model": unit.model,
                "methods": ",".join(unit.methods),
                "source": unit.source,
                "same_code": unit.same_code,
                "seconds": round(unit.seconds, 2),
                "code_bytes": unit.code_bytes,
                "lines": {file: to_ranges(some) for file, some in files.items()},
                "kernels": msgspec.to_builtins(unit.kernels),
            }
        )
    head = {"name": build.name, "commit": build.commit}
    return {**head, "compilers": list(build.compilers), "units": units}


def read(files: Iterable[Path]) -> dict[str, Build]:
    """Builds by name; of one name in several files, that of the last.

    :raises BadLines: for a file that cannot be read as such.
    """
    found: dict[str, Build] = {}
    for file in files:
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            if data["schema"] != SCHEMA:
                raise BadLines(f"{file}: schema {data['schema']}, this reads {SCHEMA}")
            found |= {one["name"]: build(one) for one in data["builds"]}
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise BadLines(f"{file}: {type(error).__name__}: {error}") from error
    return found


def build(data: dict[str, Any]) -> Build:
    """One build of a file."""
    units = tuple(
        Unit(
            one["algorithm"],
            one["model"],
            tuple(filter(None, one["methods"].split(","))),
            one["source"],
            frozenset(
                (file, number)
                for file, text in one["lines"].items()
                for number in from_ranges(text)
            ),
            one["same_code"],
            one["seconds"],
            one["code_bytes"],
            msgspec.convert(one["kernels"], tuple[Code, ...]),
        )
        for one in data["units"]
    )
    return Build(data["name"], data["commit"], tuple(data["compilers"]), units)
