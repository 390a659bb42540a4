# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where records lie: in files of their own, or in the lines of a packed file.

``DIR/records`` holds a JSON file for each comparison, as ``league run`` writes them.
``DIR/records.jsonl.xz`` (pack.py) stands for the whole folder, in JSON Lines: a line
``{"file":"000-sum.json","record":{...}}`` for each of its files.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from . import fields
from .fields import Broken
from .options import PACKED

FOLDERS = ("records", "tuning")  # of runs and of searches (``league tune``)
MANIFESTS = ("run.json", "run.json.gz")
LINE = re.compile(rb'\s*\{\s*"file"\s*:\s*("(?:[^"\\]|\\.)*")\s*,\s*"record"\s*:')
FORM = 'not {"file": NAME.json, "record": {...}}'
MEND = "take the file from where it came from again"


@dataclass(frozen=True)
class Source:
    """A record or the manifest of a run: a file, or a line of a packed file."""

    path: Path
    folder: Path  # where its own file is, or was before it was packed
    name: str  # of its own file; empty where the line does not say it
    number: int = 0  # of the line, from 1 on
    line: bytes = b""
    wrong: str = ""  # why the line cannot be used

    def __str__(self) -> str:
        if not self.number:
            return str(self.path)
        return ", ".join(filter(None, [f"{self.path}: line {self.number}", self.name]))

    @property
    def advice(self) -> str:
        """What to do where it is broken."""
        if self.number:
            return f"{MEND}, or remove the line"
        return "measure it again, or remove the file"

    def text(self) -> bytes:
        """Its JSON text; raises Broken."""
        if not self.number:
            return fields.read_bytes(self.path)
        head = LINE.match(self.line)
        if self.wrong or not head or not self.line.rstrip().endswith(b"}"):
            raise Broken(self.wrong or FORM)
        return self.line[head.end() :].rstrip()[:-1]

    def read(self) -> Any:
        """Its content, whatever it is; raises Broken."""
        return fields.parse(self.text())


@dataclass(frozen=True)
class Store:
    """The records of one folder, and the manifest of the run that it is of."""

    records: list[Source]
    manifest: Source | None


def of(path: Path) -> Source:
    """A file of its own."""
    return Source(path, path.parent, path.name)


def loose(folder: Path) -> list[Source]:
    """The files of a folder; those still being written have hidden names."""
    found = (path for end in ("*.json", "*.json.gz") for path in folder.glob(end))
    return [of(path) for path in sorted(found) if not path.name.startswith(".")]


def packed(path: Path) -> list[Source]:
    """The lines of a packed file; raises Broken where it is damaged."""
    if not path.exists():
        return lines_of(path, ())
    state = path.stat()
    return lines_of(path, (state.st_ino, state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=1)
def lines_of(path: Path, _: tuple[int, ...]) -> list[Source]:
    """The same, kept for who reads the file in parts; what else is given tells whether it has changed."""
    folder = path.with_name(path.name.removesuffix(PACKED))
    try:
        lines = fields.read_bytes(path).split(b"\n")
    except Broken as error:
        text = f"{path}: {error}; no record of this folder is used: {MEND}"
        raise Broken(text) from error
    found: list[Source] = []
    known: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if line:
            name, wrong = name_of(line)
            if name and known.setdefault(name, number) != number:
                wrong = f"line {known[name]} has the same file name"
            found.append(Source(path, folder, name, number, line, wrong))
    return found


def name_of(line: bytes) -> tuple[str, str]:
    """The file name in a line, or none and why not."""
    head = LINE.match(line)
    try:
        name = str(json.loads(head[1])) if head else ""
    except ValueError:
        name = ""
    plain = name.isprintable() and not set(name) & set("/\\")
    if plain and name.endswith(".json") and not name.startswith("."):
        return name, ""
    return "", FORM


def sources(folder: Path) -> list[Source]:
    """The files of a folder, loose or packed; raises Broken where they are both."""
    path = folder.with_name(folder.name + PACKED)
    found = loose(folder)
    if not path.exists():
        return found
    if found:
        text = f"{path}: {folder} beside it holds records too"
        raise Broken(f"{text}: move one of the two elsewhere")
    return packed(path)


def stores(directory: Path, start: str = "") -> list[Store]:
    """What a folder of results, a folder of loose files or a packed file holds; raises Broken.

    Of its records those whose names start so.
    """
    if is_packed(directory):
        found = [packed(directory)]
    else:
        found = [sources(directory / name) for name in FOLDERS]
        if not any(found) and is_of_files(directory):
            found = [loose(directory)]
    return [store(some, start) for some in found if some]


def is_of_files(folder: Path) -> bool:
    """Whether the folder itself is what ``league`` writes records into."""
    return folder.name in FOLDERS or any((folder / n).exists() for n in MANIFESTS)


def store(found: list[Source], start: str) -> Store:
    """The records of one folder whose names start so; lines that have none are among them."""
    records = [
        one
        for one in found
        if one.name not in MANIFESTS and (one.name.startswith(start) or not one.name)
    ]
    manifest = next((one for one in found if one.name in MANIFESTS), None)
    return Store(sorted(records, key=lambda one: one.name), manifest)


def record_files(directory: Path, start: str = "") -> list[Source]:
    """All records there whose names start so; raises Broken."""
    return [one for store in stores(directory, start) for one in store.records]


def is_packed(path: Path) -> bool:
    """Whether the name is that of a packed file."""
    return path.name.endswith(PACKED)


def place(path: Path) -> Path:
    """The folder of results that it is, or that a packed file is in."""
    return path.parent if is_packed(path) else path


def shown(path: Path) -> str:
    """Where its records lie, for a message."""
    file = path / f"{FOLDERS[0]}{PACKED}"
    return str(path if is_packed(path) else file if file.exists() else path / "records")
