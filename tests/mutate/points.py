# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds what can be made wrong in the oracles of algorithms, and rewrites their sources so that it can be switched on.

What `check` of a problem calls, in its algorithm's folder and in algorithms/oracle, is searched for terms (an operand of
a floating-point + or -, what is added by += or -=) and bounds (the second value of an Expected, what is named so, what a
function named so returns). Each becomes `mutated::term(N, ...)`, which is 0 where LEAGUE_MUTANT is N, or
`mutated::bound(N, ...)`, which is ten times as much.
"""

import json
import os
import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

from clang.cindex import CursorKind, Index, TypeKind

HEADER = "algorithms/contract/mutated.hpp"
MUTATED = """// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include <cstdlib>
namespace mutated {
inline const int active = std::getenv("LEAGUE_MUTANT") ? std::atoi(std::getenv("LEAGUE_MUTANT")) : 0;
template <class T>
T term(int number, T value) { return active == number ? T{} : value; }
template <class T>
T bound(int number, T value) { return active == number ? T(10 * value) : value; }
}  // namespace mutated
"""
REAL = {TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.LONGDOUBLE}
BINARY = {CursorKind.BINARY_OPERATOR, CursorKind.COMPOUND_ASSIGNMENT_OPERATOR}
FUNCTIONS = {
    CursorKind.FUNCTION_DECL,
    CursorKind.CXX_METHOD,
    CursorKind.CONSTRUCTOR,
    CursorKind.FUNCTION_TEMPLATE,
}
NAMED = re.compile("bound", re.IGNORECASE)
OF_BOUNDS = re.compile(
    r"rounding|error|slack|epsilon|outlook|spread|curvature|magnitude|bound|growth|steepest|drift|\b(unit|worst|eps)\b",
    re.IGNORECASE,
)
#: Functions whose results are parts of bounds, or say which values are looked at.
NO_VALUES = {"step_change_of_all", "weight_of", "terms", "take_sample"}
SIGNS = (b";", b"{", b"}", b",")


@dataclass(frozen=True, order=True)
class Point:
    """Something in a source that can be made wrong."""

    file: str
    begin: int
    end: int
    kind: str  # term or bound

    @property
    def algorithm(self):
        """Whose oracle it is in; `oracle`: that of several."""
        return self.file.split("/")[1]


def bare(cursor):
    """Without the casts that are not in the source."""
    kids = list(cursor.get_children())
    return (
        bare(kids[0])
        if cursor.kind == CursorKind.UNEXPOSED_EXPR and len(kids) == 1
        else cursor
    )


def sign_of(cursor):
    """The operator between two operands; empty where there are none."""
    kids = list(cursor.get_children())
    if cursor.kind not in BINARY or len(kids) != 2:
        return ""
    end = kids[0].extent.end.offset
    return next(
        (t.spelling for t in cursor.get_tokens() if t.extent.start.offset >= end), ""
    )


def text_of(cursor):
    return "".join(token.spelling for token in cursor.get_tokens())


def is_real(cursor):
    return cursor.type.get_canonical().kind in REAL


class Source:
    """One compiled file and the headers of ours that it includes."""

    def __init__(self, root, command):
        words = shlex.split(command["command"])
        words = words[words[0].endswith("ccache") :]
        ask = [words[0], "-print-file-name=include"]  # stddef.h: libclang brings none
        own = subprocess.check_output(ask, text=True).strip()
        places = [words[i + 1] for i, word in enumerate(words) if word == "-isystem"]
        kept = [w for w in words if w.startswith(("-I", "-D", "-std"))]
        kept += [f"-isystem{path}" for path in (*places, own)]
        self.root = root
        self.unit = Index.create().parse(command["file"], args=[*kept, "-w"])
        # GCC's omp.h has an attribute that Clang takes no arguments for
        errors = [
            d
            for d in self.unit.diagnostics
            if d.severity >= 3 and not str(d.location.file).endswith("/omp.h")
        ]
        if errors:
            raise ValueError(f"{command['file']}: {errors[0]}")
        #: Name of a function -> the places where one of that name is defined.
        self.functions = {}
        self.collect(self.unit.cursor)

    def own(self, cursor):
        """The path of a cursor's file from the root; None for one that is no oracle's."""
        if cursor.location.file is None:
            return None
        try:
            name = str(Path(cursor.location.file.name).resolve().relative_to(self.root))
        except ValueError:
            return None
        parts = name.split("/")
        return (
            name
            if parts[0] == "algorithms"
            and parts[1] not in ("contract", "blocks", "drivers")
            else None
        )

    def collect(self, cursor):
        for child in cursor.get_children():
            if (
                child.kind == CursorKind.TRANSLATION_UNIT
                or child.kind == CursorKind.NAMESPACE
            ):
                self.collect(child)
            elif self.own(child):
                if child.kind in FUNCTIONS and child.is_definition():
                    self.functions.setdefault(child.spelling, []).append(child)
                elif child.kind in (
                    CursorKind.STRUCT_DECL,
                    CursorKind.CLASS_DECL,
                    CursorKind.CLASS_TEMPLATE,
                ):
                    self.collect(child)

    def names_in(self, function):
        """The names of all that a function mentions."""
        return {token.spelling for token in function.get_tokens()}


def reached(sources):
    """The functions of all sources that a `check` calls, directly or through others."""
    named = {}
    for source in sources:
        for name, places in source.functions.items():
            named.setdefault(name, []).extend((source, place) for place in places)
    todo, done, found = ["check"], set(), []
    while todo:
        name = todo.pop()
        if name in done:
            continue
        done.add(name)
        for source, place in named.get(name, []):
            found.append((source, place))
            todo += [n for n in source.names_in(place) if n in named]
    return found


def is_constant(cursor):
    return any(token.spelling == "constexpr" for token in list(cursor.get_tokens())[:4])


class Finder:
    """What can be made wrong in one function."""

    def __init__(self, source, function):
        self.source = source
        self.found = []
        self.returns_bound = bool(NAMED.search(function.spelling))
        if not is_constant(function):
            self.visit(function, self.returns_bound)

    def add(self, cursor, kind):
        name, extent = self.source.own(cursor), cursor.extent
        if name and extent.end.offset > extent.start.offset:
            self.found.append(Point(name, extent.start.offset, extent.end.offset, kind))

    def visit(self, cursor, in_bound):
        """A cursor and what is in it. The terms of a bound are not looked for: it may be wider than it must."""
        if cursor.kind == CursorKind.VAR_DECL and is_constant(cursor):
            return
        kids = list(cursor.get_children())
        bounds = [b for b in self.bounds_of(cursor, kids) if text_of(b) != "0"]
        for bound in bounds:
            self.add(bound, "bound")
        if not bounds and not in_bound:
            for term in self.terms_of(cursor, kids):
                self.add(term, "term")
        for kid in kids:
            self.visit(kid, in_bound or kid in bounds)

    def bounds_of(self, cursor, kids):
        """Of what a cursor holds, what is a bound."""
        last = kids[-1:]
        if cursor.kind == CursorKind.VAR_DECL:
            return (
                last
                if NAMED.search(cursor.spelling) and last and is_real(cursor)
                else []
            )
        if cursor.kind == CursorKind.RETURN_STMT:
            return last if self.returns_bound and last and is_real(last[0]) else []
        if cursor.kind == CursorKind.INIT_LIST_EXPR:
            expected = cursor.type.spelling.endswith("Expected") and len(kids) == 2
            return (
                last if expected and kids[1].kind != CursorKind.INTEGER_LITERAL else []
            )
        given = sign_of(cursor) in ("=", "+=") and is_real(kids[0])
        return last if given and NAMED.search(text_of(kids[0])) else []

    def terms_of(self, cursor, kids):
        """The terms of a sum, those of a sum in it left out."""
        sign = sign_of(cursor)
        if sign in ("+=", "-=") and is_real(kids[0]):
            return kids[1:]
        if sign in ("+", "-") and is_real(cursor):
            return [kid for kid in kids if sign_of(bare(kid)) not in ("+", "-")]
        return []


def all_points(root, commands):
    """Every point of every oracle, in order; `commands`: how its files are compiled."""
    oracles = [
        c
        for c in json.loads(commands.read_text())
        if re.fullmatch(
            r"algorithms/(oracle/\w+|(\w+)/\2\w*)\.cpp",
            os.path.relpath(c["file"], root),
        )
    ]
    sources = [Source(root, command) for command in oracles]
    return sorted(
        {
            point
            for source, place in reached(sources)
            if place.spelling not in NO_VALUES
            for point in Finder(source, place).found
        }
    )


def of_a_bound(root, point):
    """Whether a term is one of a bound, by the words around it: a bound may be wider than it must."""
    data = (root / point.file).read_bytes()
    begin = max(data.rfind(sign, 0, point.begin) for sign in SIGNS) + 1
    end = min(place for sign in SIGNS if (place := data.find(sign, point.end)) >= 0)
    return bool(OF_BOUNDS.search(data[begin:end].decode()))


def rewrite(root, points):
    """Puts a switch around each point; their numbers begin at 1."""
    edits = {}
    for number, point in enumerate(points, 1):
        # at one place, what ends later begins first
        edits.setdefault(point.file, []).append(
            (point.begin, 1, -point.end, f"mutated::{point.kind}({number}, ")
        )
        edits[point.file].append((point.end, 0, -point.begin, ")"))
    for name, some in edits.items():
        data = (root / name).read_bytes()
        for place, _, _, text in sorted(some, reverse=True):
            data = data[:place] + text.encode() + data[place:]
        head, rest = data.split(b"\n", 1)
        (root / name).write_bytes(head + f'\n#include "{HEADER}"\n'.encode() + rest)
    (root / HEADER).write_text(MUTATED)
