# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Performance portability of applications over a named set of platforms.

An application is a tier of Kokkos' code or another model (its fastest method and launch), or the composite
``native``: on each platform the fastest of what was written for it or sold with it. Efficiencies e_i
are of one problem on platform i: application efficiency t_best / t over all variants
measured there, architecture efficiency t_roofline / t at the measured ceilings. Over the
set H, PP = |H| / sum_i(1 / e_i) if the application ran and passed on every platform, else
0 (Pennycook, Sewall, Lee 2016, arXiv:1611.07409). PP hides the spread, and depends on the
alternatives that were measured, so mean, minimum and support stand beside it (Sewall et al.,
"Interpreting and visualizing performance portability metrics", P3HPC 2020; Marowka 2021,
doi:10.1002/spe.3002). Where lines with machine code are given, so does the code convergence of
the variants that these times are of (lines.py).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from . import lines
from .case import Case
from .kinds import OF_DEVICE, PORTABLE, PORTABLES
from .rows import Row
from .selection import fastest, measured, of_study, text_of, time, work_title
from .writing import tier

COMPOSITE = "native"
MIN_PLATFORMS = 2


@dataclass(frozen=True)
class Score:
    """Efficiencies of one application over the platforms, and their summary."""

    efficiencies: dict[str, float]  # by platform; a platform not supported is absent
    pp: float  # harmonic mean over the whole set, 0 where one is not supported
    mean: float  # arithmetic, over those supported
    minimum: float


@dataclass(frozen=True)
class Portability:
    """One application on one problem."""

    application: str  # a tier, a model, or the composite native
    kind: str  # of the model; empty for the composite
    problem: str
    whole: str  # the same with all that tells it from others
    platforms: tuple[str, ...]  # the whole set
    vendors: tuple[str, ...]  # of the GPUs in it
    support: float  # share of the set on which it ran and passed
    left_out: int  # platforms where a best time has no interval: not in the set
    application_efficiency: Score  # against the best variant there
    architecture_efficiency: (
        Score | None
    )  # roofline bound / time; None where no roofline is the limit
    convergence: float | None  # code convergence; None where lines are not known


@dataclass(frozen=True)
class Best:
    """The best row of each application on one problem and platform, in one metric."""

    by_application: dict[str, Row]

    @property
    def time(self) -> float:
        """The shortest time [s] of all applications."""
        return min(map(time, self.by_application.values()))

    @property
    def certain(self) -> bool:
        """Whether every one of these times has an interval."""
        return all(row.low is not None for row in self.by_application.values())


def key(case: Case) -> tuple[object, ...]:
    """Equal for cases of one problem on any platform."""
    return (case.comparison, case.dtype, text_of(case.sizes), text_of(case.parameters))


def platform(case: Case) -> str:
    """The name of the device, of a CPU with its threads."""
    return case.device_name or case.device_kind


def attempts(rows: list[Row]) -> set[tuple[object, ...]]:
    """Where kokkos ran, right or wrong: pairs of problem and platform."""
    tried = (r.case for r in of_study(rows) if r.verdict != "skipped")
    return {(key(c), platform(c)) for c in tried if c.kind == PORTABLE}


def grouped(rows: list[Row]) -> dict[tuple[object, ...], dict[str, list[Row]]]:
    """One-device rows by problem and platform."""
    problems: dict[tuple[object, ...], dict[str, list[Row]]] = defaultdict(dict)
    for row in measured(rows):
        case = row.case
        if case.devices == 1 and case.algorithm != "ceilings":
            problems[key(case)].setdefault(platform(case), []).append(row)
    return problems


def best_of(rows: list[Row]) -> Best:
    """The applications on one platform, all of one metric and build.

    Of several, those that hold a portable row, of these the commonest.
    """
    alike: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in rows:
        alike[row.case.metric, row.case.context.build].append(row)
    kinds = {key: {row.case.kind for row in some} for key, some in alike.items()}
    common = max(alike, key=lambda key: (PORTABLE in kinds[key], len(alike[key])))
    applications: dict[str, list[Row]] = defaultdict(list)
    for row in alike[common]:
        applications[tier(row.case) or row.case.model].append(row)
        if row.case.kind in OF_DEVICE:
            applications[COMPOSITE].append(row)
    return Best({name: fastest(some) for name, some in applications.items()})


def score(efficiencies: dict[str, float], platforms: tuple[str, ...]) -> Score:
    """PP over the whole set; mean and minimum over what is supported."""
    values = list(efficiencies.values())
    whole = set(efficiencies) == set(platforms)
    pp = len(values) / sum(1 / value for value in values) if whole else 0.0
    return Score(efficiencies, pp, sum(values) / len(values), min(values))


def portability(
    rows: list[Row], builds: Mapping[str, lines.Build] = lines.NO_BUILDS
) -> list[Portability]:
    """Each application on each problem that kokkos was tried on on two platforms or more.

    Platforms where it was never built, as the CPU beside a GPU, are not in the set.
    `builds`: lines with machine code, by preset.
    """
    found, tried = [], attempts(rows)
    for problem, platforms in grouped(rows).items():
        best = {
            name: best_of(some)
            for name, some in platforms.items()
            if (problem, name) in tried
        }
        sure = {name: one for name, one in best.items() if one.certain}
        if len(sure) < MIN_PLATFORMS:
            continue
        names = dict.fromkeys(n for one in sure.values() for n in one.by_application)
        rest = len(best) - len(sure)
        found += [make_portability(name, sure, rest, builds) for name in names]
    return found


def make_portability(
    application: str,
    best: dict[str, Best],
    left_out: int,
    builds: Mapping[str, lines.Build],
) -> Portability:
    """One application over the platforms of one problem."""
    own = {
        platform: one.by_application[application]
        for platform, one in best.items()
        if application in one.by_application
    }
    platforms = tuple(best)
    some = [next(iter(one.by_application.values())).case for one in best.values()]
    gpus = [case.device_name for case in some if case.device_kind == "gpu"]
    efficiencies = {p: best[p].time / time(row) for p, row in own.items()}
    shares = {p: row.roofline_share for p, row in own.items()}
    rooflines = {p: share for p, share in shares.items() if share and share <= 1}
    known = len(rooflines) == len(own)
    title = work_title(first := next(iter(own.values())))
    return Portability(
        application=application,
        kind="" if application == COMPOSITE else first.case.kind,
        problem=title,
        whole=title.replace(first.problem, first.sizes),
        platforms=platforms,
        vendors=tuple(dict.fromkeys(name.split()[0] for name in gpus if name)),
        support=len(own) / len(platforms),
        left_out=left_out,
        application_efficiency=score(efficiencies, platforms),
        architecture_efficiency=score(rooflines, platforms) if known else None,
        convergence=converged([row.case for row in own.values()], builds),
    )


def converged(cases: list[Case], builds: Mapping[str, lines.Build]) -> float | None:
    """Code convergence of the variants of these cases, one a platform; None where lines of one are not known."""
    used = [lines.used_by(case, builds) for case in cases]
    return lines.convergence(used) if all(used) else None


def texts(found: list[Portability]) -> list[str]:
    """One line per problem: PP of Kokkos' tiers and native, the set, mean and minimum."""
    told: dict[str, list[str]] = defaultdict(list)
    for one in found:
        if one.kind in ("", *PORTABLES):
            score = one.application_efficiency
            rest = f"mean {score.mean:.2f}, min {score.minimum:.2f}"
            rest += f", runs on {100 * one.support:.0f} %"
            if one.convergence is not None:
                rest += f", code convergence {one.convergence:.2f}"
            problem = f"PP of {one.problem} on {' and '.join(one.platforms)}"
            problem += f"{of_one_vendor(one)}, against the best measured there"
            if one.left_out:
                plural = "s" if one.left_out > 1 else ""
                some = f"{one.left_out} platform{plural} without an interval"
                problem += f" ({some} left out)"
            told[problem].append(f"{one.application} {score.pp:.2f} ({rest})")
    return [f"{problem}: {'; '.join(texts)}" for problem, texts in told.items()]


def of_one_vendor(one: Portability) -> str:
    """What a set of platforms cannot show; empty where it has GPUs of several vendors."""
    if len(one.vendors) > 1:
        return ""
    return f", GPUs of {one.vendors[0]} alone" if one.vendors else ", no GPU"
