# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table algorithm x method x model, from ``league list --json``.

Evidence decides: a device is named only where a published record passed on it. A
variant that some build registers is ``compiled``; one that cannot be written is a dash
with its reason below the table; ``missing`` is one that a build could have but lacks.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import marked
from .evidence import Listing, Variant, bodies, proofs, read_listing, states
from .fields import Broken
from .writing import NUMBERS, ONE

COLUMNS = ("serial", "openmp", "kokkos", "kokkos_specialised", "cuda", "hip")
REGISTERED = {"ready", "no_device"}
PUBLISHED = Path(__file__).parents[1] / "results"
NAME = "support"
BEGIN, END = marked.markers(NAME)
LEGEND = (
    "`CPU`, `H200`: checked there, in a published record. `compiled`: built, not run. "
    "`missing`: to be written. `—`: not expressible, for the reason below. "
    "In brackets, how the code of today is written, whatever the record had: `one body` for every kind of device; "
    "`numbers`: one body, with integers that differ by kind of device; other cells of `kokkos`: several bodies."
)
WRITTEN = {ONE: " (one body)", NUMBERS: " (numbers)"}


def cell_text(cell: dict[str, str], proof: set[str], notes: list[str]) -> str:
    """One cell, empty where no build lists it; a new reason joins the notes."""
    if proof or not cell:
        return ", ".join(sorted(proof))
    if REGISTERED & set(cell):
        return "compiled"
    if "not_expressible" in cell:
        reason = " ".join(cell["not_expressible"].split()) or "no reason given"
        if reason not in notes:
            notes.append(reason)
        return f"— [{notes.index(reason) + 1}]"
    return "missing" if "missing" in cell else "not built"


def draw(listings: list[Listing], proof: dict[Variant, set[str]]) -> str:
    """The table, and the list of reasons below it."""
    head = ["algorithm", "method", *COLUMNS, "libraries"]
    lines = [head, ["---"] * len(head)]
    notes: list[str] = []
    told = bodies(listings)
    for key, row in states(listings).items():
        texts = {
            model: cell_text(row.get(model, {}), proof.get((*key, model), set()), notes)
            + WRITTEN.get(told.get((*key, model), ""), "")
            for model in [
                *COLUMNS,
                *(name for name in row if name not in COLUMNS),
            ]
        }
        libraries = [f"{m}: {t}" for m, t in texts.items() if m not in COLUMNS]
        libraries = [text for text in libraries if not text.endswith(": not built")]
        own = [texts[model] for model in COLUMNS]
        lines.append([*key, *own, "; ".join(libraries)])
    safe = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    table = "".join("| " + " | ".join(line) + " |\n" for line in safe)
    reasons = "".join(f"{i}. {text}\n" for i, text in enumerate(notes, 1))
    return f"{table}\n{LEGEND}\n" + (f"\n{reasons}" if reasons else "")


def splice(text: str, table: str) -> str:
    """The page with this table between its markers; raises Broken without them."""
    return marked.splice(text, NAME, table)


def main(argv: list[str]) -> int:
    """Returns the exit code: 1 when the page's table differs, 2 for bad input."""
    parser = argparse.ArgumentParser(prog="python3 -m bench.report.support")
    parser.add_argument("listings", nargs="+", type=Path, metavar="LIST.json")
    parser.add_argument("--results", action="append", type=Path, default=[])
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--write", type=Path, metavar="PAGE")
    group.add_argument("--check", type=Path, metavar="PAGE")
    options = parser.parse_args(argv)
    folders = [*sorted(PUBLISHED.glob("*")), *options.results]
    readme = options.write or options.check
    try:
        table = draw([read_listing(path) for path in options.listings], proofs(folders))
        if readme is None:
            print(table, end="")
        elif options.write:
            marked.write(readme, NAME, table)
        else:
            changes = marked.difference(readme, NAME, table)
            print(changes, end="\n" if changes else "")
            return int(bool(changes))
    except (Broken, OSError) as error:
        print(f"bench.report.support: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
