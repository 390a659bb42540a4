# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records and manifests from JSON: of this version, and with messages that name the benchmark and the field."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from .fields import UNSEEMLY, Broken, shown
from .schema import VERSION, Manifest, Record
from .sources import Source

T = TypeVar("T")
ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u(....)|.)|\xc2[\x80-\x9f]|\x7f", re.DOTALL
)
MISSING = re.compile("Object missing required field `([^`]*)")
PLACE = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")


class Outdated(Broken):
    """A record or manifest of an older version; says how it is brought up to date."""


class Head(Struct, frozen=True):
    """What tells the version, and who wrote it."""

    schema: int = 1
    git: Any = ""
    context: Any = None
    benchmarks: Raw = Raw()
    cases: Raw = Raw()


def record(source: Source) -> Record:
    """Raises Broken, Outdated for one of an older version."""
    return read(source, Record)


def manifest(source: Source) -> Manifest:
    """The same."""
    return read(source, Manifest)


def read(source: Source, kind: type[T]) -> T:
    """Its content, once it is known to be of this version."""
    data = seemly(source.text())
    head = decode(data, Head)
    if head.schema > VERSION:
        git = head.git or inside(inside(head.context, "league"), "git")
        wrote = f"the League of commit {git}" if git else "the League that wrote it"
        text = f"it has schema {head.schema}, this League reads {VERSION}: use {wrote}"
        raise Broken(f"{text}, or a newer one")
    if head.schema < VERSION and (bytes(head.benchmarks) or bytes(head.cases)):
        place = source.path if source.number else source.folder
        raise Outdated(
            f"written by an older League (schema {head.schema}, not {VERSION}): "
            f"`python3 -m bench.report.migrate {place}` brings it up to date"
        )
    return decode(data, kind)


def rows(of: Record, kind: type[T]) -> list[T]:
    """Its rows, without aggregates by Google Benchmark's tools; raises Broken."""
    if not of.benchmarks:
        raise Broken("holds no benchmarks")
    found = []
    for raw in of.benchmarks:
        data = bytes(raw)
        if b'"aggregate"' in data and inside(loose(data), "run_type") == "aggregate":
            continue
        try:
            found.append(decode(data, kind))
        except Broken as error:
            row = loose(data)
            name = inside(row, "name") if isinstance(row, dict) else row
            raise Broken(f"benchmark {shown(name, 160)}: {error}") from error
    return found


def inside(value: Any, key: str) -> Any:
    """What a dictionary has there; None of anything else."""
    return value.get(key) if isinstance(value, dict) else None


def seemly(data: bytes) -> bytes:
    """A JSON text with question marks for what no terminal should get; raises Broken where it is not UTF-8."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Broken(f"not UTF-8 at byte {error.start}") from error
    some = any(mark in data for mark in (b"\\u", b"\xc2", b"\x7f"))
    return ESCAPE.sub(sign, data) if some else data


def sign(found: re.Match[bytes]) -> bytes:
    """A sign of a JSON text, or a question mark."""
    escaped = found[0].startswith(b"\\")
    try:
        code = int(found[1], 16) if found[1] else ord(" ")
    except ValueError:  # no digits
        return found[0]
    return found[0] if escaped and not UNSEEMLY.match(chr(code)) else b"?"


def decode(data: bytes, kind: type[T]) -> T:
    """The value of a JSON text; raises Broken, naming the field and what is wrong with it."""
    try:
        return msgspec.json.decode(data, type=kind)
    except RecursionError as error:
        raise Broken("nested too deeply") from error
    except MemoryError as error:
        raise Broken("too large for this machine's memory") from error
    except msgspec.ValidationError as error:
        raise Broken(explained(str(error), data, kind)) from error
    except msgspec.DecodeError as error:
        raise Broken(f"not a whole JSON file: {error}") from error


def loose(data: bytes) -> Any:
    """The value of any JSON text, for a message; None where Python cannot read it."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def explained(error: str, data: bytes, kind: type[T]) -> str:
    """``'sizes.n' is -5: expected `int` >= 0``, of what msgspec says."""
    what, _, place = error.partition(" - at `$")
    place = place.removesuffix("`")
    root = value = loose(data)
    path = ""
    for key, index in PLACE.findall(place):
        if isinstance(value, list) and index.isdecimal():
            path, value = f"{path}[{index}]", value[int(index)]
        elif isinstance(value, dict) and value:
            name = key or culprit(root, value, error, kind)
            path, value = f"{path}.{name}", value.get(name)
    if missing := MISSING.match(what):
        path, what = f"{path}.{missing[1]}", ""
    path = path.lstrip(".")
    text = f"{what[:1].lower()}{what[1:]}"
    if not path:
        return f"it holds {shown(root)}: {text}" if root else text
    return f"'{path}' is {f'{shown(value)}: {text}' if what else 'missing'}"


def culprit(root: Any, inside: dict[str, Any], error: str, kind: type[T]) -> str:
    """The name in this part of a value that the error is of; leaves it alone in there."""
    name, every = "", dict(inside)
    for name, value in every.items():
        inside.clear()
        inside[name] = value
        try:
            msgspec.json.decode(json.dumps(root), type=kind)
        except (msgspec.DecodeError, RecursionError) as again:
            if str(again) == error:
                break
    return name
