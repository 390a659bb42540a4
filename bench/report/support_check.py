# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Contradictions of the support table with one build or the published records.

A complete comparison needs the lists of all builds. This one needs a single list and
reports only what that build or the records contradict.
"""

from __future__ import annotations

from .evidence import Listing, Method, Variant, bodies, states
from .fields import Broken
from .support import BEGIN, COLUMNS, END, REGISTERED, WRITTEN

Table = dict[Method, dict[str, str]]


def parse(text: str) -> Table:
    """Cells of the table in a page, by (algorithm, method) and model."""
    body = text.partition(BEGIN)[2].partition(END)[0]
    if not body:
        raise Broken(f"no table between {BEGIN} and {END}")
    table: Table = {}
    for line in body.splitlines()[1:]:
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != len(COLUMNS) + 3:
            continue
        row = dict(zip(COLUMNS, cells[2:]))
        for library in filter(None, cells[-1].split("; ")):
            name, _, state = library.partition(": ")
            row[name] = state
        table[cells[0], cells[1]] = row
    table.pop(("algorithm", "method"), None)
    table.pop(("---", "---"), None)
    return table


def plain(text: str) -> str:
    """A cell without how its code is written."""
    for ending in WRITTEN.values():
        text = text.removesuffix(ending)
    return text


def denied(state: str, text: str) -> bool:
    """Whether a build with this state rules out this cell. Others may know more."""
    exists = text not in ("", "missing", "not built") and not text.startswith("—")
    if state in REGISTERED:
        return not exists
    if state == "not_expressible":
        return not exists and not text.startswith("—")
    return state == "missing" and (text.startswith("—") or text == "not built")


def contradictions(readme: str, listing: Listing) -> list[str]:
    """Cells of the page's table that this build contradicts, one line each."""
    table, found = parse(readme), []
    for key, row in states([listing]).items():
        if key not in table:
            found.append(f"{' '.join(key)}: no row")
            continue
        for model, cell in row.items():
            whole = table[key].get(model, "")
            text, told = plain(whole), bodies([listing]).get((*key, model))
            if told and whole.removeprefix(text) != WRITTEN.get(told, ""):
                found.append(f"{' '.join(key)} {model}: {told}, table: '{whole}'")
            for state, reason in cell.items():
                unnamed = state == "not_expressible" and text.startswith("—")
                if denied(state, text):
                    found.append(f"{' '.join(key)} {model}: {state}, table: '{text}'")
                elif unnamed and " ".join(reason.split()) not in readme:
                    found.append(
                        f"{' '.join(key)} {model}: reason not listed: {reason}"
                    )
    algorithms = {key[0] for key in states([listing])}
    for name in sorted({key[0] for key in table} - algorithms):
        found.append(f"{name}: no such algorithm in this build")
    return found


def unproven(readme: str, proof: dict[Variant, set[str]]) -> list[str]:
    """Devices that the table names without a published record, and the reverse."""
    found = []
    for key, row in parse(readme).items():
        for model, whole in row.items():
            text = plain(whole)
            named = set()
            if text not in ("", "compiled", "missing", "not built") and text[0] != "—":
                named = set(text.split(", "))
            known = proof.get((*key, model), set())
            if named != known:
                shown = ", ".join(sorted(known)) or "nothing"
                found.append(f"{' '.join(key)} {model}: '{text}', records: {shown}")
    return found
