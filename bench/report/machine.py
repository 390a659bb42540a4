# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The build from a record; facts of machine and build, as pairs of name and text."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .case import Build
from .decode import loose
from .fields import MAX_VALUE
from .schema import League

Fact = tuple[str, str]
BUILD = {
    "study": "study",
    "preset": "preset",
    "git": "commit",
    "kokkos_version": "Kokkos",
    "source_hash": "hash of the sources",
    "executable_hash": "hash of the executable",
    "compiler": "compiler",
    "cxx_flags": "C++ flags",
    "cuda_flags": "CUDA flags",
    "kokkos_flags": "flags of Kokkos files",
    "host_devices": "host devices",
    "caches": "caches",
}
GIB = 2**30
BYTES = ("llc_bytes", "memory_bytes")
SENSED = ("_W", "_C", "_MHz")  # a device that runs has none of these at 0: not read


def read_build(league: League, folder: Path) -> Build:
    """The build.

    Without the hash of its executable, one of an unknown commit or of edited files is
    known to be that of other records of its run only.
    """
    preset, git, kokkos = (
        name or "unknown" for name in (league.preset, league.git, league.kokkos_version)
    )
    vague = git == "unknown" or git.endswith("-dirty")
    run = league.run_id or league.launch_id or str(folder)
    return Build(
        preset=preset,
        git=git,
        kokkos=kokkos,
        compiler=league.compiler,
        flags=(league.cxx_flags, league.cuda_flags, league.kokkos_flags),
        sources=league.source_hash,
        executable=league.executable_hash,
        run=run if vague and not league.executable_hash else "",
    )


def read_facts(league: League) -> tuple[Fact, ...]:
    """From the part ``league`` of a context; missing facts are left out."""
    facts = [
        (name, text) for key, name in BUILD.items() if (text := getattr(league, key))
    ]
    facts += [device_fact(loose(bytes(one))) for one in league.devices]
    facts += [(f"backend {name}", values(one)) for name, one in league.backends.items()]
    return tuple(facts)


def device_fact(device: dict[str, Any]) -> Fact:
    """``gpu 0: NVIDIA H200, memory 139.8 GiB, ...``."""
    name = f"{device.get('kind', 'device')} {device.get('index', 0)}"
    rest = {k: v for k, v in device.items() if k not in ("kind", "index", "name")}
    return name, ", ".join(filter(None, [str(device.get("name", "")), values(rest)]))


def values(found: dict[str, Any]) -> str:
    """``memory 139.8 GiB, mig off``; empty values are left out."""
    texts = []
    for key, value in found.items():
        if key in BYTES and isinstance(value, (int, float)) and 0 < value <= MAX_VALUE:
            unit, size = ("GiB", GIB) if value >= GIB else ("MiB", 2**20)
            texts.append(f"{key.removesuffix('_bytes')} {value / size:.4g} {unit}")
        elif key.endswith(SENSED) and value in (0, "0"):
            continue
        elif value not in ("", None):
            texts.append(f"{key.replace('_', ' ')} {value}".removeprefix("version "))
    return ", ".join(texts)


def merged(all_facts: Iterable[tuple[Fact, ...]]) -> list[Fact]:
    """The facts of several contexts: a name with several texts has them all."""
    found: dict[str, dict[str, None]] = {}
    for facts in all_facts:
        for name, text in facts:
            found.setdefault(name, {})[text] = None
    return [(name, "; ".join(texts)) for name, texts in found.items()]
