# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Preflight warnings by kind: texts that differ in numbers only are one line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from . import hosts
from .case import Context

NUMBER = re.compile(r"\d+(?:\.\d*)?")


@dataclass
class Kind:
    """One kind of warning, and the launches of the program before which it was given."""

    texts: list[str] = field(default_factory=list)
    launches: dict[str, None] = field(default_factory=dict)
    hosts: dict[hosts.Host, None] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """``load 10.1 to 125 on 16 threads``: numbers that differ are a range."""
        columns = zip(*(NUMBER.findall(text) for text in self.texts))
        ranges = iter([between(column) for column in columns])
        return NUMBER.sub(lambda _: next(ranges), self.texts[0])

    @property
    def count(self) -> str:
        """``9 launches``."""
        return f"{len(self.launches)} launch{'es' if len(self.launches) != 1 else ''}"

    @property
    def where(self) -> str:
        """``9 launches on n1, n2``."""
        return f"{self.count} on {', '.join(hosts.names(self.hosts).values())}"


def between(numbers: Iterable[str]) -> str:
    """``8 to 16``; a number that is the same everywhere as it is written."""
    ordered = sorted(dict.fromkeys(numbers), key=float)
    ends = [text.removesuffix(".") if len(ordered) > 1 else text for text in ordered]
    return " to ".join(dict.fromkeys([ends[0], ends[-1]]))


def kinds(contexts: Iterable[Context]) -> list[Kind]:
    """The kinds of warnings, in the order in which they were first given."""
    found: dict[str, Kind] = {}
    for context in contexts:
        for text in context.preflight:
            kind = found.setdefault(NUMBER.sub("0", text), Kind())
            kind.texts.append(text)
            kind.launches[context.launch_id] = None
            kind.hosts[hosts.host(context)] = None
    return list(found.values())
