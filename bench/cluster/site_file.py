# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Site files: the properties of a cluster for job scripts, read and checked."""

from __future__ import annotations

import dataclasses
import difflib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import durations, toml
from .errors import BadInput

ENVIRONMENT = "environment."


@dataclass(frozen=True)
class Site:
    """A site file; sites/nvidia.toml explains each key."""

    cores_per_node: int
    max_time: str
    gpus_per_node: int = 0
    ranks_per_node: int = 0  # 0: one per GPU; one on a node without
    gpu_option: str = "--gpus-per-node={gpus}"
    partition: str = ""
    account: str = ""
    options: list[str] = field(default_factory=list)  # of sbatch
    mpi: str = "pmix"
    srun_options: list[str] = field(default_factory=list)
    modules: list[str] = field(default_factory=list)
    prologue: str = ""
    executable: str = "build/openmp/league"
    python: str = ""
    safety: float = 3.0
    startup: str = "10"
    grace_s: int = 120
    resumes: int = 3
    report_options: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def max_s(self) -> int:
        """The longest time that a job may ask for [s]."""
        return durations.seconds(self.max_time)

    @property
    def startup_s(self) -> int:
        """Overhead of a job before and after its measurements [s]."""
        return durations.seconds(self.startup)


TYPES: dict[str, tuple[Any, str]] = {
    "int": (int, "a whole number from 0 on"),
    "float": ((int, float), "a number"),
    "str": (str, "a string"),
    "list[str]": (list, "an array of strings"),
}


def check(key: str, kind: str, value: Any) -> str:
    """What is wrong with the value of a key; empty if nothing is."""
    types, text = TYPES[kind]
    good = isinstance(value, types) and not isinstance(value, bool)
    if good and isinstance(value, list):
        good = all(isinstance(one, str) for one in value)
    if good and isinstance(value, (int, float)):
        good = value >= 0
    if not good:
        return f"'{key}' takes {text}"
    try:
        if key in ("max_time", "startup"):
            durations.seconds(value)
        if key == "gpu_option":
            value.format(gpus=1)
    except (BadInput, KeyError, IndexError, ValueError) as error:
        return f"'{key}': {error}"
    return ""


def read(path: Path) -> Site:
    """Raises BadInput, which names file, line and key."""
    kinds = {one.name: str(one.type) for one in dataclasses.fields(Site)}
    kinds.pop("environment")
    values: dict[str, Any] = {}
    environment: dict[str, str] = {}
    for key, entry in toml.read(path).items():
        where = f"{path}:{entry.line}"
        if key.startswith(ENVIRONMENT):
            environment[key[len(ENVIRONMENT) :]] = str(entry.value)
            wrong = (
                "" if isinstance(entry.value, (str, int)) else f"'{key}' takes a string"
            )
        elif key in kinds:
            values[key] = entry.value
            wrong = check(key, kinds[key], entry.value)
        else:
            near = difflib.get_close_matches(key, kinds, 1)
            wrong = f"unknown key '{key}'" + (
                f"; the nearest is '{near[0]}'" if near else ""
            )
        if wrong:
            raise BadInput(f"{where}: {wrong}")
    for key in ("cores_per_node", "max_time"):
        if not values.get(key):
            raise BadInput(f"{path}: '{key}' is missing")
    return Site(**values, environment=environment)
