# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""In what builds and machines differ, for people."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .case import Build, Case, Context

FIELDS = {
    "preset": "preset",
    "git": "git",
    "kokkos": "Kokkos",
    "compiler": "compiler",
    "sources": "sources",
    "executable": "executable",
    "run": "run of unknown sources",
}
FLAGS = ("C++ flags", "CUDA flags", "flags of Kokkos files")
SHOWN = 4  # values of one field; the rest is counted
CUT = 12  # digits of a hash


def short(git: str) -> str:
    """A full hash is cut to ten digits; what `git describe` says is kept."""
    return re.sub(r"\b([0-9a-f]{10})[0-9a-f]{30}\b", r"\1", git)


def fields(build: Build) -> dict[str, str]:
    """What a build is known by: the text of each field."""
    found = {name: getattr(build, key) for key, name in FIELDS.items()}
    found["git"] = short(found["git"])
    found |= {key: found[key][:CUT] for key in ("sources", "executable")}
    recorded = {name: text or "not recorded" for name, text in found.items()}
    return recorded | {name: text or "none" for name, text in zip(FLAGS, build.flags)}


def varying(builds: Iterable[Build]) -> list[str]:
    """The fields in which these builds differ, in the order of FIELDS and FLAGS."""
    every = [fields(build) for build in builds]
    names = dict.fromkeys(name for one in every for name in one)
    return [name for name in names if len({one.get(name, "none") for one in every}) > 1]


def values(builds: Iterable[Build], name: str) -> list[str]:
    """The distinct texts of a field; of flags the words that not all builds have."""
    texts = list(dict.fromkeys(fields(build).get(name, "none") for build in builds))
    if name not in FLAGS:
        return texts
    words = [text.split() for text in texts]
    common = set.intersection(*map(set, words))
    rests = (" ".join(w for w in some if w not in common) for some in words)
    found = list(dict.fromkeys(rest or "without" for rest in rests))
    return found if len(found) == len(texts) else texts


def listed(texts: list[str]) -> str:
    """``a | b | c | d | 3 more``."""
    rest = len(texts) - SHOWN
    return " | ".join([*texts[:SHOWN], *([f"{rest} more"] if rest > 0 else [])])


def differences(builds: Iterable[Build]) -> str:
    """``compiler GNU 12.2.0 | GNU 13.1.0, C++ flags -O2 | -O3``; empty for one build."""
    builds = list(dict.fromkeys(builds))
    names = varying(builds)
    return ", ".join(f"{name} {listed(values(builds, name))}" for name in names)


def title(build: Build, among: Iterable[Build]) -> str:
    """``openmp, git abc1234, Kokkos 4.7.0``, and what else tells it from the others."""
    texts, usual = fields(build), ("preset", "git", "Kokkos")
    head = [texts["preset"], f"git {texts['git']}", f"Kokkos {texts['Kokkos']}"]
    builds = list(dict.fromkeys([build, *among]))
    rest = [name for name in varying(builds) if name not in usual]
    return ", ".join(
        [*head, *(f"{name} {values([build, *builds], name)[0]}" for name in rest)]
    )


def all_contexts(cases: Iterable[Case]) -> list[Context]:
    """The contexts of all launches, each once."""
    return list(dict.fromkeys(c for case in cases for c in case.contexts))


def texts(cases: Iterable[Case]) -> list[str]:
    """One line where the records are of several builds."""
    builds = list(dict.fromkeys(c.build for c in all_contexts(cases)))
    if len(builds) < 2:
        return []
    what = differences(builds)
    return [f"{len(builds)} builds, each with rows of its own; they differ in: {what}"]
