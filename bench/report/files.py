# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic writing of files."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Writes a file atomically and makes its folder.

    Invalid characters, such as lone surrogates or undecodable bytes of file names, become
    question marks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    partial.write_text(text, encoding="utf-8", errors="replace")
    os.replace(partial, path)
