# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evidence of each variant: lists of builds, and published records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from .case import Case
from .decode import decode, seemly
from .fields import Broken, read_bytes
from .records import read_file
from .sources import record_files

Method = tuple[str, str]  # algorithm, method
Variant = tuple[str, str, str]  # algorithm, method, model


class Model(Struct):
    """What ``league list --json`` says of a model of a method."""

    name: str
    state: str
    reason: str = ""
    bodies: str = ""


class Models(Struct):
    """Of a method."""

    name: str
    models: list[Model]


class Methods(Struct):
    """Of an algorithm."""

    name: str
    methods: list[Models]


class Listing(Struct):
    """What ``league list --json`` prints."""

    algorithms: list[Methods]

    def models(self) -> Iterator[tuple[Method, Model]]:
        """Of each method."""
        for one in self.algorithms:
            for method in one.methods:
                for model in method.models:
                    yield (one.name, method.name), model


def read_listing(path: Path) -> Listing:
    """One output of ``league list --json``; raises Broken."""
    try:
        return decode(seemly(read_bytes(path)), Listing)
    except Broken as error:
        raise Broken(f"{path}: {error}") from error


def place(case: Case) -> str:
    """``CPU``, or the short name of a GPU: ``H200``."""
    if case.device_kind == "host":
        return "CPU"
    found = re.search(r"\b[A-Z]+\d\w*", case.device_name)
    return found.group() if found else case.device_name or "GPU"


def proofs(directories: Iterable[Path]) -> dict[Variant, set[str]]:
    """Where each (algorithm, method, model) passed; raises Broken."""
    found: dict[Variant, set[str]] = {}
    for directory in directories:
        for source in record_files(directory):
            try:
                cases = read_file(source)
            except Broken as error:
                raise Broken(f"{source}: {error}") from error
            for case in cases:
                if case.status == "passed":
                    key = (case.algorithm, case.method, case.model)
                    found.setdefault(key, set()).add(place(case))
    return found


def bodies(listings: Iterable[Listing]) -> dict[Variant, str]:
    """How a build says that a variant of a portable model is written; of several builds, the last."""
    return {
        (*key, model.name): model.bodies
        for listing in listings
        for key, model in listing.models()
        if model.bodies
    }


def states(listings: Iterable[Listing]) -> dict[Method, dict[str, dict[str, str]]]:
    """By (algorithm, method) and model: each state that a build gives, and why."""
    found: dict[Method, dict[str, dict[str, str]]] = {}
    for listing in listings:
        for key, model in listing.models():
            cell = found.setdefault(key, {}).setdefault(model.name, {})
            cell.setdefault(model.state, model.reason)
    return found
