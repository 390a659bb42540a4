# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The records of one published folder, read once for all that is drawn of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from .case import Case
from .fields import Broken
from .merge import load
from .options import MARGIN
from .rows import Row, build_rows


@cache
def read(folder: Path, start: str = "") -> tuple[list[Case], list[Row]]:
    """The cases of its records whose names start so, and all of their rows; raises Broken.

    A campaign rents GPUs of one name on several hosts: they are pooled (hosts.py).
    """
    cases, problems = load([folder], start, pool=True)
    if problems:
        raise Broken("; ".join(problems))
    return cases, build_rows(cases, MARGIN)
