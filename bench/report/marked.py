# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drawn parts of a README: between two marker comments, written or checked."""

from __future__ import annotations

import difflib
from pathlib import Path

from .fields import Broken


def markers(name: str) -> tuple[str, str]:
    """The comments around the part of this name."""
    return f"<!-- {name}:begin -->", f"<!-- {name}:end -->"


def splice(text: str, name: str, body: str) -> str:
    """The README with this body between its markers; raises Broken without them."""
    first, last = markers(name)
    before, begin, rest = text.partition(first)
    _, end, after = rest.partition(last)
    if not begin or not end:
        raise Broken(f"the markers {first} and {last} are missing")
    return f"{before}{first}\n{body}{last}{after}"


def write(readme: Path, name: str, body: str) -> None:
    """Puts the body in its place; raises Broken or OSError."""
    old = readme.read_text(encoding="utf-8")
    readme.write_text(splice(old, name, body), encoding="utf-8")


def difference(readme: Path, name: str, body: str) -> str:
    """The changes of the README, as a diff; raises Broken or OSError."""
    old = readme.read_text(encoding="utf-8")
    new = splice(old, name, body)
    names = (str(readme), "drawn now")
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), *names, "", "", 3, ""
    )
    return "\n".join(lines)
