# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of TOML that site files use, with the line of each key: `tomllib` came with Python 3.11 and reports no line numbers.

Tables of one level; whole and decimal numbers, booleans, strings ("one line", 'one line', and literal ones of many lines
in three single quotes), arrays of these.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from .errors import BadInput

GAP = re.compile(r"(?:\s|#[^\n]*)*")
TABLE = re.compile(r"\[([\w-]+)\]")
KEY = re.compile(r"([\w-]+|\"[^\"\n]*\")[ \t]*=[ \t]*")
LINE_END = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
LONG = re.compile(r"'''\n?(.*?)'''", re.DOTALL)
LITERAL = re.compile(r"'([^'\n]*)'")
BASIC = re.compile(r"\"(?:\\.|[^\"\\\n])*\"")
WORD = re.compile(r"[+-]?[\w.]+")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
UNKNOWN = (
    "is no value that a site file takes (a number, true, false, a string or an array)"
)


@dataclass(frozen=True)
class Entry:
    """A value, and where it is."""

    value: Any
    line: int


class Reader:
    """Reads a text from its beginning to its end."""

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name, self.at = text, name, 0

    def refuse(self, what: str) -> NoReturn:
        """Raises BadInput at the current line."""
        raise BadInput(f"{self.name}:{self.line()}: {what}")

    def line(self) -> int:
        """The number of the current line."""
        return self.text.count("\n", 0, self.at) + 1

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Consumes and returns what the pattern matches here."""
        found = pattern.match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def document(self) -> dict[str, Entry]:
        """All keys; those of a table as ``table.key``."""
        entries: dict[str, Entry] = {}
        table = ""
        while self.take(GAP) and self.at < len(self.text):
            line = self.line()
            if found := self.take(TABLE):
                table = found[1] + "."
            elif found := self.take(KEY):
                key = table + found[1].strip('"')
                if key in entries:
                    self.refuse(
                        f"'{key}' is there twice, first in line {entries[key].line}"
                    )
                entries[key] = Entry(self.value(), line)
            else:
                self.refuse("neither KEY = VALUE nor [TABLE]")
            if not self.take(LINE_END):
                self.refuse("more on the line than one value")
        return entries

    def value(self) -> Any:
        """One value."""
        if self.text.startswith('"""', self.at):
            self.refuse("write a string of several lines in three single quotes")
        if found := self.take(LONG) or self.take(LITERAL):
            return found[1]
        if found := self.take(BASIC):
            return self.unescaped(found[0])
        if self.text.startswith("[", self.at):
            return self.array()
        found = self.take(WORD)
        word = found[0] if found else self.text[self.at : self.at + 1].strip()
        if word in ("true", "false"):
            return word == "true"
        if not NUMBER.fullmatch(word):
            self.refuse(f"'{word}' {UNKNOWN}")
        return float(word) if "." in word else int(word)

    def unescaped(self, text: str) -> str:
        """A string in double quotes; its escapes are those of JSON."""
        try:
            return str(json.loads(text, strict=False))
        except ValueError:
            self.refuse(
                f"{text}: an escape that is unknown; in single quotes there are none"
            )

    def array(self) -> list[Any]:
        """``[value, value]``, over any number of lines."""
        values: list[Any] = []
        begin = self.at
        self.at += 1
        while self.take(GAP) and not self.text.startswith("]", self.at):
            values.append(self.value())
            self.take(GAP)
            if self.text.startswith(",", self.at):
                self.at += 1
            elif not self.text.startswith("]", self.at):
                self.at = begin
                self.refuse("an array without its ']'")
        self.at += 1
        return values


def read(path: Path) -> dict[str, Entry]:
    """The keys of a file; raises BadInput, which names file and line."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 at byte {error.start}") from error
    return Reader(text.replace("\r\n", "\n"), str(path)).document()
