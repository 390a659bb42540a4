# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.report.migrate DIR...``: records and manifests of older versions, brought up to date.

Numbers that do not change stay as they are written. What old records did not hold stays absent, unless it follows from
what they held.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import pack, sources
from ..fields import Broken
from ..manifest import read_manifest
from ..records import read_file
from ..schema import VERSION
from ..sources import MANIFESTS, Source
from . import costs, names

EPILOG = """Nothing is written where a file cannot be read, or would not be readable afterwards. What is written is
read again before it takes the place of the old. Exit codes: 0; 1 when a file cannot be written; 2 for bad input."""

FILES = "files"


class Whole(int):
    """A whole number, and how it is written."""

    text = ""


class Real(float):
    """A number, and how it is written."""

    text = ""


def whole(text: str) -> Whole:
    """A number in a JSON text."""
    number = Whole(text)
    number.text = text
    return number


def real(text: str) -> Real:
    """The same with a point or an exponent."""
    number = Real(text)
    number.text = text
    return number


def parsed(text: bytes) -> Any:
    """The value of a JSON text, whose numbers know how they are written."""
    return json.loads(text, parse_int=whole, parse_float=real)


def written(value: Any) -> str:
    """The JSON text of a value."""
    if isinstance(value, dict):
        pairs = (f"{written(key)}:{written(one)}" for key, one in value.items())
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(written, value))}]"
    if isinstance(value, (Whole, Real)):
        return value.text
    return json.dumps(value, ensure_ascii=False)


def migrated_record(old: dict[str, Any], counts: Counter[str]) -> dict[str, Any]:
    """A record of today; counts what changed."""
    rows = []
    for row in old["benchmarks"]:
        if row.get("run_type") == "aggregate":  # of Google Benchmark's tools
            rows.append(row)
            continue
        renamed = names.rename(row)
        rows.append(costs.recount(renamed, old["comparison"]))
        counts["rows"] += 1
        counts["of new names"] += renamed["name"] != row["name"]
        counts["with costs as counted today"] += rows[-1] is not renamed
    return {"schema": VERSION, **old, "benchmarks": rows}


def migrated(source: Source, counts: Counter[str]) -> bytes:
    """The text of a file as it is today; raises Broken."""
    pack.checked(source)
    text = source.text()
    try:
        old = parsed(text)
        if old.get("schema", 1) >= VERSION:
            return text
        counts[FILES] += 1
        if source.name in MANIFESTS:
            found = {"schema": VERSION, **old}
            found["cases"] = [names.modern_name(name) for name in old["cases"]]
        else:
            found = migrated_record(old, counts)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise Broken(
            f"{source}: not a whole record ({error!r}); {source.advice}"
        ) from error
    return written(found).encode("utf-8", "replace")


def write(path: Path, text: bytes) -> None:
    """One file of its own, read again before it takes the place of the old."""
    whole = pack.of_file(path.name, text)
    data = gzip.compress(whole) if path.suffix == ".gz" else whole

    def read(partial: Path) -> list[Source]:
        return [replace(sources.of(partial), name=path.name)]

    pack.put(path, data, read, {path.name: text})


def require_readable(source: Source, text: bytes) -> None:
    """Raises Broken where a reader of today would refuse the new text."""
    line = b'{"file":%s,"record":%s}' % (json.dumps(source.name).encode(), text)
    new = replace(source, number=source.number or 1, line=line)
    try:
        if source.name in MANIFESTS:
            read_manifest(new)
        else:
            read_file(new)
    except Broken as error:
        raise Broken(f"{source}: {error}; {source.advice}") from error


def change(directory: Path) -> list[str]:
    """Brings what is there up to date; says what changed; raises Broken."""
    said = []
    for store in sources.stores(directory):
        files = [*store.records, *filter(None, [store.manifest])]
        counts: Counter[str] = Counter()
        texts = {file: migrated(file, counts) for file in files}
        for file, text in texts.items():
            require_readable(file, text)
        place = files[0].path if files[0].number else files[0].folder
        if not counts[FILES]:
            said.append(f"{place}: up to date")
            continue
        if files[0].number:
            pack.write(place, {file.name: text for file, text in texts.items()})
        else:
            for file, text in texts.items():
                write(file.path, text)
        told = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
        said.append(f"{place}: now of schema {VERSION}: {told}")
    if not said:
        raise Broken(f"{directory}: holds no records/*.json, packed or not")
    return said


def main(argv: list[str]) -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python3 -m bench.report.migrate",
        description="Brings records and manifests of older versions up to date, packed or not, in place.",
        epilog=EPILOG,
    )
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    return pack.each(parser.prog, parser.parse_args(argv).folders, change)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
