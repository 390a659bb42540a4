# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.record.page``: the tables of README.md here, from record.schema.json; ``--check`` says what differs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ..report import marked

HERE = Path(__file__).parent
PAGE, SCHEMA, NAME = HERE / "README.md", HERE / "record.schema.json", "fields"


def type_text(found: dict[str, Any]) -> str:
    """``list of Event``, ``number from 0 on``."""
    if "$ref" in found:
        name = found["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in found:
        return " or ".join(map(type_text, found["anyOf"]))
    if "const" in found:
        return str(found["const"])
    if "enum" in found:
        return ", ".join(f"`{value}`" for value in found["enum"])
    if "prefixItems" in found:
        return "list of two numbers"
    if "items" in found:
        return f"list of {type_text(found['items'])}"
    kinds = found.get("type", "any")
    text = " or ".join([kinds] if isinstance(kinds, str) else kinds)
    inner = found.get("additionalProperties")
    if isinstance(inner, dict) and inner:
        text = f"{text} of {type_text(inner)}"
    low = found.get("minimum")
    return f"{text} from {low:g} on" if low is not None and low >= 0 else text


def table(name: str, found: dict[str, Any]) -> str:
    """A heading, what it is, and a line for each field; needed ones in bold."""
    lines = [
        f"### {name}",
        found["description"],
        "| field | type | meaning |\n|---|---|---|",
    ]
    for field, one in found["properties"].items():
        shown = f"**`{field}`**" if field in found.get("required", []) else f"`{field}`"
        lines[-1] += f"\n| {shown} | {type_text(one)} | {one['description']} |"
    return "\n\n".join(lines) + "\n"


def tables() -> str:
    """All of them."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return "\n".join(table(name, found) for name, found in schema["$defs"].items())


def main(argv: list[str]) -> int:
    """Returns the exit code: 1 when the page differs."""
    if "--check" in argv:
        changes = marked.difference(PAGE, NAME, tables())
        print(changes, end="\n" if changes else "")
        return int(bool(changes))
    marked.write(PAGE, NAME, tables())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
