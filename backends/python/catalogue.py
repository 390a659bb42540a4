# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists the peers of a project, and what this interpreter has for them, as JSON. Imports no library.

Usage: python -m backends.python.catalogue [SOCKET]: to an open socket, as one line; else to stdout.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import json
import platform
import sys
from pathlib import Path
from typing import Any

from . import gpu, peer

ROOT = Path(__file__).resolve().parents[2]
FIELDS = ("method", "description", "dtypes", "kind", "problem")
OURS = {"algorithms", "backends"}


def imported(tree: ast.Module) -> list[str]:
    """Libraries that a file names at its top, in its order."""
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
    tops = dict.fromkeys(name.split(".")[0] for name in names)
    return [n for n in tops if n not in OURS and n not in sys.stdlib_module_names]


def fields_of(name: str, classes: dict[str, ast.ClassDef]) -> dict[str, Any]:
    """The literal class attributes of a peer, its bases' where it has none of its own."""
    if name not in classes:
        base = getattr(peer, name, None) or getattr(gpu, name, None)
        return {key: getattr(base, key) for key in FIELDS if hasattr(base, key)}
    fields: dict[str, Any] = {}
    for base in reversed(classes[name].bases):
        fields |= fields_of(ast.unparse(base).split(".")[-1], classes)
    for node in classes[name].body:
        if isinstance(node, ast.Assign) and (key := assigned(node)) in FIELDS:
            fields[key] = ast.literal_eval(node.value)
    return fields


def assigned(node: ast.Assign) -> str:
    """The name that is given a value."""
    return ast.unparse(node.targets[0])


def is_peer(node: ast.ClassDef) -> bool:
    """Whether the class itself says which method it is."""
    assignments = [n for n in node.body if isinstance(n, ast.Assign)]
    return "method" in map(assigned, assignments)


def obstacle(modules: list[str]) -> str:
    """Why these libraries cannot be imported; empty if they are there."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    where = f"Python {platform.python_version()}"
    return f"no module {', '.join(missing)} in {where}" if missing else ""


def peers_of(path: Path) -> list[dict[str, Any]]:
    """The variants of one peer file."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
    modules = list(dict.fromkeys(["numpy", *imported(tree)]))
    where = {"algorithm": path.parent.name, "model": path.stem}
    rest = {"modules": modules, "obstacle": obstacle(modules)}
    try:
        return [
            where | fields_of(name, classes) | rest
            for name, node in classes.items()
            if is_peer(node)
        ]
    except ValueError as error:
        raise ValueError(f"{path}: {', '.join(FIELDS)} must be literals") from error


def versions(modules: set[str]) -> dict[str, str]:
    """Module -> version of the package that brings it, of those that are installed."""
    brought_by = importlib.metadata.packages_distributions()
    return {
        name: importlib.metadata.version(brought_by[name][0])
        for name in sorted(modules)
        if name in brought_by
    }


def catalogue(root: Path = ROOT) -> dict[str, Any]:
    """All peers below root/algorithms, and this interpreter."""
    files = sorted((root / "algorithms").glob("*/*.py"))
    peers = [one for path in files for one in peers_of(path)]
    modules = {name for one in peers for name in one["modules"]}
    return {
        "python": platform.python_version(),
        "modules": versions(modules),
        "peers": peers,
    }


if __name__ == "__main__":
    try:
        with open(int(sys.argv[1]) if sys.argv[1:] else 1, "w", encoding="utf-8") as to:
            to.write(json.dumps(catalogue()) + "\n")
    except (OSError, SyntaxError, ValueError) as error:
        sys.exit(f"{error}")
