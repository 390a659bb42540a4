# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Python files take from the project's own modules is there: also in peers whose libraries are not installed
here, so that no test can run them."""

import ast
import functools
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("algorithms", "backends", "bench", "tests")
FILES = sorted(p for f in FOLDERS for p in (ROOT / f).rglob("*.py"))


def file_of(module: str) -> Path | None:
    """Of `algorithms.cnn.training`; None for what is not the project's."""
    base = ROOT.joinpath(*module.split("."))
    found = (base.with_suffix(".py"), base / "__init__.py")
    return next((path for path in found if path.is_file()), None)


@functools.cache
def names_of(path: Path) -> set[str]:
    """What the module of this file binds, outside of its functions and classes."""
    names = {"__doc__", "__file__", "__name__"}
    nodes: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        nodes += ast.iter_child_nodes(node)
    if path.name == "__init__.py":
        names |= {child.stem for child in path.parent.iterdir()}
    return names


def missing(path: Path) -> list[str]:
    """`line: module.name` for each name of a project's module that is not there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules: dict[str, Path] = {}
    found = []

    def check(line: int, module: Path, name: str) -> None:
        if name not in names_of(module):
            found.append(f"{line}: {module.relative_to(ROOT)}: {name}")

    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        above = package[: len(package) - node.level + 1] if node.level else ()
        base = ".".join((*above, *filter(None, [node.module])))
        for name in node.names:
            if module := file_of(f"{base}.{name.name}"):
                modules[name.asname or name.name] = module
            elif (module := file_of(base)) and name.name != "*":
                check(node.lineno, module, name.name)
    local = {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            name = node.value.id
            if name in modules and name not in local:
                check(node.lineno, modules[name], node.attr)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_names_of_own_modules_exist(path):
    """As `training.channels_last`, after that moved into another module."""
    assert missing(path) == []


def test_finds_what_is_not_there(tmp_path, monkeypatch):
    """Of both kinds of import."""
    monkeypatch.setattr("test_modules.ROOT", tmp_path)
    package = tmp_path / "algorithms/sum/peers"
    package.mkdir(parents=True)
    (package / "there.py").write_text("VALUE = 1\n", encoding="utf-8")
    use = package / "use.py"
    use.write_text(
        "from algorithms.sum.peers import there\n"
        "from algorithms.sum.peers.there import VALUE, gone\n"
        "print(there.VALUE, there.lost)\n",
        encoding="utf-8",
    )
    assert missing(use) == [
        "2: algorithms/sum/peers/there.py: gone",
        "3: algorithms/sum/peers/there.py: lost",
    ]
