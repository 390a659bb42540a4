# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files share no weak symbol of an unnamed namespace.

GCC gives a function template whose argument is a template of an unnamed namespace external linkage. The linker then
keeps one of two such functions of the same name, and a model runs the kernel of another.
"""

import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
UNNAMED = "_GLOBAL__N_1"  # part of the mangled names of all unnamed namespaces


def weak_symbols(file):
    """The mangled names of the weak symbols that the object file defines."""
    listed = subprocess.run(
        ["nm", "--defined-only", "--format=posix", file],
        check=True,
        capture_output=True,
        text=True,
    )
    fields = [line.split() for line in listed.stdout.splitlines()]
    return {name for name, kind, *_ in fields if kind in "VW"}


def test_weak_symbols_of_unnamed_namespaces_are_of_one_file():
    objects = sorted((ROOT / "build/openmp/CMakeFiles").rglob("*.o"))
    if not objects:
        pytest.skip("no build/openmp")
    files = defaultdict(list)
    for file in objects:
        for name in weak_symbols(file):
            if UNNAMED in name:
                files[name].append(file.name)
    assert files
    shared = {name: where for name, where in files.items() if len(where) > 1}
    assert not shared, "make the function template static: " + str(shared)[:2000]
