# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The version of records and manifests that this League reads: bench/record/record.schema.json."""

from __future__ import annotations

from typing import Any

from .fields import Broken, take
from .sources import Source

VERSION = 2


class Outdated(Broken):
    """Records of an older version; says how they are brought up to date."""


def version(content: Any) -> int:
    """Records did not say the first."""
    return int(take(content, "schema", int, 1))


def read(source: Source) -> Any:
    """The content of a record or a manifest; raises Broken, Outdated for one of another version."""
    content = source.read()
    found = version(content)
    if found > VERSION:
        text = f"it has schema {found}, this League reads {VERSION}"
        raise Broken(f"{text}: use {writer(content)}, which wrote it, or a newer one")
    if found < VERSION and is_whole(content):
        place = source.path if source.number else source.folder
        raise Outdated(
            f"written by an older League (schema {found}, not {VERSION}): "
            f"`python3 -m bench.report.migrate {place}` brings it up to date"
        )
    return content


def is_whole(content: Any) -> bool:
    """Whether it looks like a record or a manifest at all."""
    return isinstance(content, dict) and bool({"benchmarks", "cases"} & content.keys())


def writer(content: Any) -> str:
    """``the League of commit abc1234``, as far as the record or manifest says."""
    league = take(take(content, "context", dict, {}), "league", dict, content)
    git = take(league, "git", str, "")
    return f"the League of commit {git}" if git else "the League"
