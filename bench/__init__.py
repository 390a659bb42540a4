# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A command ``python3 -m bench...`` names a missing package in a sentence; its exit code is then 2."""

import sys
from types import TracebackType

import backends  # noqa: F401 (first: where modules are looked for)


def explain(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Prints an exception that nothing has caught."""
    if not isinstance(error, ModuleNotFoundError):
        sys.__excepthook__(kind, error, trace)
        return
    print(
        f"{sys.executable} lacks the package {error.name}: {sys.executable} -m pip install numpy msgspec, "
        "or take another Python, as build/venv/bin/python",
        file=sys.stderr,
    )
    sys.exit(2)


if sys.argv[0] == "-m":  # until the command's own module is found
    sys.excepthook = explain
