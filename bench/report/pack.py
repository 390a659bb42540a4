# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.report.pack DIR...``: one file for a folder of records.

The folder DIR/records becomes DIR/records.jsonl.xz (see sources.py), DIR/tuning likewise;
``--unpack`` gives the folder back. Numbers stay as they are written. The same records give
the same bytes, by the same version of xz.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from . import sources
from .fields import Broken
from .options import PACKED
from .sources import FOLDERS, MANIFESTS, Source

PRESET = 6 | lzma.PRESET_EXTREME
STRING = rb'"(?:[^"\\]|\\.)*"'
BETWEEN = re.compile(STRING + rb"|\s+")
TOKEN = re.compile(STRING.decode() + r'|[][{},:]|[^][{},:"\s]+')
EPILOG = """What is there is never overwritten, and nothing is removed before what was written in
its place has been read again. Exit codes: 0; 1 when a file cannot be written; 2 for bad input."""


def compact(text: bytes) -> bytes:
    """A JSON text without the space between its parts."""
    return BETWEEN.sub(lambda one: one[0] if one[0][:1] == b'"' else b"", text)


def laid_out(text: str, indent: int) -> str:
    """A JSON text over several lines, as ``league`` writes its files."""
    parts: list[str] = []
    depth, last = 0, ":"
    for token in TOKEN.findall(text):
        closes, opened = token in "]}", last in "[{"
        depth -= closes
        if closes != opened or last == ",":
            parts.append("\n" + " " * indent * depth)
        parts.append(": " if token == ":" else token)
        depth += token in "[{"
        last = token
    return "".join(parts) + "\n"


def of_file(name: str, text: bytes) -> bytes:
    """A JSON text as ``league`` writes it into a file of this name."""
    return laid_out(text.decode("utf-8"), 2 if name in MANIFESTS else 1).encode()


def values(text: bytes) -> Any:
    """What a JSON text says, its numbers as they are written."""
    return json.loads(text, parse_float=str, parse_int=str, parse_constant=str)


def checked(source: Source) -> bytes:
    """The text of a record; raises Broken where it is no whole JSON object."""
    try:
        if not isinstance(source.read(), dict):
            raise Broken("not a JSON object")
        return source.text()
    except Broken as error:
        raise Broken(f"{source}: {error}; {source.advice}") from error


def write(path: Path, texts: Mapping[str, bytes]) -> None:
    """A packed file of records by the names of their files, whole or none; raises Broken."""
    lines = [
        b'{"file":%s,"record":%s}\n' % (json.dumps(name).encode(), compact(texts[name]))
        for name in sorted(texts)
    ]
    data = lzma.compress(b"".join(lines), preset=PRESET)
    put(path, data, sources.packed, texts)


def put(
    path: Path,
    data: bytes,
    read: Callable[[Path], list[Source]],
    texts: Mapping[str, bytes],
) -> None:
    """A file, which takes the place of another once what was written says these texts; raises Broken."""
    partial = path.with_name(f".part-{path.name}")
    try:
        partial.write_bytes(data)
        require_equal(path, read(partial), texts)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def require_equal(
    path: Path, written: list[Source], texts: Mapping[str, bytes]
) -> None:
    """Raises Broken where what was written says something else."""
    found = {one.name: values(checked(one)) for one in written}
    if found != {name: values(text) for name, text in texts.items()}:
        raise Broken(f"{path}: is not what was to be written; nothing was removed")


def plain(name: str) -> str:
    """The name of a file without that of its compression."""
    return name.removesuffix(".gz")


def pack(folder: Path) -> int:
    """The folder becomes one file; returns of how many."""
    path = folder.with_name(folder.name + PACKED)
    found = sources.loose(folder)
    if not found:
        raise Broken(f"{folder}: holds no *.json; remove it, or give another folder")
    others = {one.name for one in folder.iterdir()} - {one.name for one in found}
    if others:
        text = f"holds {min(others)!r}, which is no record: move it elsewhere"
        raise Broken(f"{folder}: {text}")
    texts: dict[str, bytes] = {}
    for one in found:
        if plain(one.name) in texts:
            text = f"is there compressed too: keep one of {plain(one.name)!r}"
            raise Broken(f"{one}: {text}")
        texts[plain(one.name)] = checked(one)
    write(path, texts)
    shutil.rmtree(folder)
    return len(texts)


def unpack(path: Path) -> int:
    """The file becomes a folder; returns of how many files."""
    folder = path.with_name(path.name.removesuffix(PACKED))
    texts = {one.name: checked(one) for one in sources.packed(path)}
    partial = folder.with_name(f".part-{folder.name}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for name, text in texts.items():
        (partial / name).write_bytes(of_file(name, text))
    require_equal(partial, sources.loose(partial), texts)
    os.replace(partial, folder)
    path.unlink()
    return len(texts)


def change(directory: Path, unpacks: bool) -> list[str]:
    """Packs or unpacks what is there; says what became of it; raises Broken."""
    said = []
    for name in FOLDERS:
        folder, path = directory / name, directory / f"{name}{PACKED}"
        old, new = (path, folder) if unpacks else (folder, path)
        if not old.exists():
            continue
        if new.exists():
            raise Broken(f"{new}: exists already; move one of it and {old} elsewhere")
        count = unpack(path) if unpacks else pack(folder)
        said.append(f"{new}: {count} files of {old}")
    if not said:
        what = PACKED if unpacks else "/"
        names = " and no ".join(f"{name}{what}" for name in FOLDERS)
        raise Broken(f"{directory}: holds no {names}; give the folder that holds them")
    return said


def main(argv: list[str]) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python3 -m bench.report.pack",
        description="Makes DIR/records, a folder of records, one file: DIR/records.jsonl.xz; DIR/tuning likewise.",
        epilog=EPILOG,
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--unpack", action="store_true", help="the other way")
    options = parser.parse_args(argv)
    return each(parser.prog, options.folders, lambda one: change(one, options.unpack))


def each(
    program: str, folders: Iterable[Path], change: Callable[[Path], list[str]]
) -> int:
    """Prints what became of each folder; returns the exit code of the program."""
    try:
        for folder in folders:
            for text in change(folder):
                print(text)
    except (Broken, OSError) as error:
        print(f"{program.split()[-1]}: {error}", file=sys.stderr)
        return 2 if isinstance(error, Broken) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
