# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evidence of each variant: lists of builds, and published records."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .case import Case
from .fields import Broken, read_json, take
from .records import read_file
from .sources import record_files

Listing = dict[str, Any]  # what ``league list --json`` prints
Method = tuple[str, str]  # algorithm, method
Variant = tuple[str, str, str]  # algorithm, method, model


def read_listing(path: Path) -> Listing:
    """One output of ``league list --json``; raises Broken."""
    try:
        listing: Listing = read_json(path)
        for algorithm in take(listing, "algorithms", list):
            for method in take(algorithm, "methods", list):
                for model in take(method, "models", list):
                    take(model, "name", str), take(model, "state", str)
    except Broken as error:
        raise Broken(f"{path}: {error}") from error
    return listing


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
    found: dict[Variant, str] = {}
    for listing in listings:
        for algorithm in listing["algorithms"]:
            for method in algorithm["methods"]:
                for model in method["models"]:
                    if told := model.get("bodies"):
                        key = algorithm["name"], method["name"], model["name"]
                        found[key] = str(told)
    return found


def states(listings: Iterable[Listing]) -> dict[Method, dict[str, dict[str, str]]]:
    """By (algorithm, method) and model: each state that a build gives, and why."""
    found: dict[Method, dict[str, dict[str, str]]] = {}
    for listing in listings:
        for algorithm in listing["algorithms"]:
            for method in algorithm["methods"]:
                for model in method["models"]:
                    key = (algorithm["name"], method["name"])
                    cell = found.setdefault(key, {}).setdefault(model["name"], {})
                    cell.setdefault(model["state"], model.get("reason") or "")
    return found
