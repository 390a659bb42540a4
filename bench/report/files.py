# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """The whole file or none: a reader never meets half a table. Makes its folder.

    A question mark stands for what is no character, as half of a pair in JSON or a byte
    of a file's name.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    partial.write_text(text, encoding="utf-8", errors="replace")
    os.replace(partial, path)
