# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What times a compute and answers for it, kept from before a file of the user's own is imported.

The worker and the file share one process: this finds what is replaced by mistake or plainly. It is no
defence against a file that goes on to change memory, frames or this module itself.
"""

from __future__ import annotations

import builtins
import json
import socket
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

__all__ = ["Kept", "perf_counter", "sleep"]

FOLDER = Path(__file__).resolve().parent
MISSING = object()
NAMED = 3  #: replaced names that a message has

#: (a module or class, names of it)
Names = tuple[Any, tuple[str, ...]]


def name_of(owner: Any) -> str:
    """As a reader would write it."""
    if isinstance(owner, type):
        return f"{owner.__module__}.{owner.__qualname__}"
    return str(owner.__name__)


def our_modules() -> list[Any]:
    """Those of this folder that are imported, and the worker itself."""
    files = [(m, getattr(m, "__file__", None)) for m in list(sys.modules.values())]
    return [m for m, file in files if file and Path(file).parent == FOLDER]


class Kept:
    """The objects that some names stood for."""

    def __init__(self, of_library: Iterable[Names] = ()) -> None:
        self.entries: list[tuple[str, Mapping[str, Any], str, Any]] = []
        self.keep(time, [n for n, value in vars(time).items() if callable(value)])
        self.keep(builtins, vars(builtins))
        self.keep(json, ["dumps", "loads", "_default_encoder"])
        self.keep(socket, ["recv_fds", "socket"])
        self.keep(socket.socket, ["sendall", "send", "recvmsg"])
        for owner, names in of_library:
            self.keep(owner, names)
        for module in our_modules():
            self.keep_all(module)
            for value in list(vars(module).values()):
                if isinstance(value, type) and value.__module__ == module.__name__:
                    self.keep_all(value)

    def keep(self, owner: Any, names: Iterable[str]) -> None:
        """What ``owner.name`` is; of a class also what it inherits."""
        for name in names:
            for place in owner.__mro__ if isinstance(owner, type) else (owner,):
                value = vars(place).get(name, MISSING)
                label = f"{name_of(place)}.{name}"
                self.entries.append((label, vars(place), name, value))
                if value is not MISSING:
                    break

    def keep_all(self, owner: Any) -> None:
        """All of a module or class of ours."""
        self.keep(owner, [n for n in vars(owner) if not n.startswith("__")])

    def check(self) -> None:
        """Raises RuntimeError naming what is no longer the same object."""
        replaced = [
            label
            for label, names, name, value in self.entries
            if names.get(name, MISSING) is not value
        ]
        if replaced:
            raise RuntimeError(
                f"it replaces {', '.join(replaced[:NAMED])}, by which it is timed or checked"
            )
