# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists the peers of a project, and their libraries in this interpreter, as JSON. Imports no library.

Usage: python -m backends.python.catalogue [SOCKET]: to an open socket, as one line; else to stdout.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import json
import platform
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FIELDS = (
    "method",
    "description",
    "dtypes",
    "kind",
    "units",
    "problem",
    "split",
    "several",
)
OURS = {"algorithms", "backends"}
#: Packages whose module has a different name.
PACKAGES = {
    "sklearn": ("scikit-learn",),
    "cupy": ("cupy", "cupy-cuda12x", "cupy-cuda13x"),
    "cuml": ("cuml", "cuml-cu12", "cuml-cu13"),
}


class Source:
    """A parsed project file: its classes, and those imported from other project files."""

    def __init__(self, path: Path, root: Path) -> None:
        self.root = root
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        # : Libraries imported at the top of this file and of the project files that it
        # imports, in order.
        self.libraries: list[str] = []
        self.classes: dict[str, tuple[ast.ClassDef, Source]] = {}
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                self.classes[node.name] = node, self
            elif isinstance(node, ast.Import):
                self._need(*(alias.name for alias in node.names))
            elif isinstance(node, ast.ImportFrom):
                self._import_from(node, path)

    def _need(self, *modules: str) -> None:
        tops = (module.split(".")[0] for module in modules)
        self.libraries += [t for t in tops if t not in OURS | sys.stdlib_module_names]
        self.libraries = list(dict.fromkeys(self.libraries))

    def _import_from(self, node: ast.ImportFrom, path: Path) -> None:
        parts = node.module.split(".") if node.module else []
        if node.level:
            parts = [*path.relative_to(self.root).parts[: -node.level], *parts]
        if parts[0] not in OURS:
            self._need(parts[0])
            return
        for name in [None, *(alias.name for alias in node.names)]:
            file = self.root.joinpath(*parts, *filter(None, [name])).with_suffix(".py")
            if file.is_file():
                other = Source(file, self.root)
                self.classes = other.classes | self.classes
                self._need(*other.libraries)

    def fields(self, name: str) -> dict[str, Any]:
        """The literal class attributes of a peer, including inherited ones."""
        if name not in self.classes:
            return {}
        node, source = self.classes[name]
        fields: dict[str, Any] = {}
        for base in reversed(node.bases):
            fields |= source.fields(ast.unparse(base).split(".")[-1])
        return fields | {
            key: ast.literal_eval(value)
            for key, value in assigned(node).items()
            if key in FIELDS
        }

    def peers(self) -> list[str]:
        """Classes of this file that define `method` themselves."""
        own = {k: node for k, (node, source) in self.classes.items() if source is self}
        return [name for name, node in own.items() if "method" in assigned(node)]


def assigned(node: ast.ClassDef) -> dict[str, ast.expr]:
    """Class attribute -> the assigned expression."""
    values: dict[str, ast.expr] = {}
    for line in node.body:
        if isinstance(line, ast.Assign):
            values |= {ast.unparse(target): line.value for target in line.targets}
        elif isinstance(line, ast.AnnAssign) and line.value is not None:
            values[ast.unparse(line.target)] = line.value
    return values


def unavailable(modules: list[str]) -> str:
    """Why these libraries cannot be imported; empty if they can."""
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    where = f"Python {platform.python_version()}"
    return f"no module {', '.join(missing)} in {where}" if missing else ""


def peers_of(path: Path, root: Path) -> list[dict[str, Any]]:
    """The variants of one peer file."""
    source = Source(path, root)
    modules = list(dict.fromkeys(["numpy", *source.libraries]))
    where = {"algorithm": path.parents[1].name, "model": path.stem}
    rest = {"modules": modules, "unavailable": unavailable(modules)}
    try:
        return [where | source.fields(name) | rest for name in source.peers()]
    except ValueError as error:
        raise ValueError(f"{path}: {', '.join(FIELDS)} must be literals") from error


def versions(modules: set[str]) -> dict[str, str]:
    """Module -> version of its package, for installed modules."""
    found = {}
    for module in sorted(modules):
        for package in PACKAGES.get(module, (module,)):
            with suppress(importlib.metadata.PackageNotFoundError):
                found[module] = importlib.metadata.version(package)
    return found


def catalogue(root: Path = ROOT) -> dict[str, Any]:
    """All peers below root/algorithms, and this interpreter."""
    files = sorted((root / "algorithms").glob("*/peers/*.py"))
    peers = [one for path in files for one in peers_of(path, root)]
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
