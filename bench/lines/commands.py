# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compile commands of a build's kernels, and how they ask for line tables."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

# Line tables alone, in a version whose tables name their files themselves. They leave the machine code as it is.
HOST = ("-g1", "-gdwarf-4")
# ptxas says what it made of each kernel.
CUDA = ("-lineinfo", f"-Xcompiler={','.join(HOST)}", "-keep", "-Xptxas=-v")
HIP = (*HOST, "-save-temps=obj")
QUIET = (
    "-w"  # flags for debugging make precompiled headers unusable, which GCC warns of
)

# Targets of one model that differ in the architecture that they are compiled for.
ONE_MODEL = {"cuda_ptx": "cuda", "cuda_hopper": "cuda"}

OBJECT = re.compile(r"(?:^|/)CMakeFiles/(\w+)\.(\w+)\.dir/")
# What a registration begins with: the name, then the model or how it is written in that model.
METHOD = re.compile(r'"(\w+)",\s*(?:(?:\w+::)?model\b|\w*once\w*\b|several_bodies\b)')


class BadBuild(Exception):
    """The build folder has nothing to compile; the message says what to do."""


@dataclass(frozen=True)
class Command:
    """How one kernel file of a build is compiled."""

    algorithm: str
    model: str
    source: str  # from the root
    root: Path
    folder: Path  # where it is compiled
    words: tuple[str, ...]

    @property
    def methods(self) -> tuple[str, ...]:
        """What the source registers; else the folder of its method; else nothing, which stands for all."""
        text = (self.root / self.source).read_text(encoding="utf-8")
        found = tuple(dict.fromkeys(METHOD.findall(text)))
        return found or Path(self.source).parts[2:-1]

    @property
    def compiler(self) -> str:
        """The program, without what runs before it (ccache)."""
        words = iter(self.words)
        first = next(words)
        return next(words) if Path(first).name in ("ccache", "sccache") else first

    @property
    def device(self) -> str:
        """``cuda`` or ``hip`` where the object holds device code."""
        if "nvcc" in Path(self.compiler).name:
            return "cuda"
        hip = {"-xhip", "hip"} & set(self.words)
        return "hip" if hip else ""

    def to(self, out: Path, lines: bool) -> list[str]:
        """The command that writes the object to `out`, and device code beside it."""
        words = list(self.words)[self.words.index(self.compiler) :]
        words[words.index("-o") + 1] = str(out)
        flags = {"": (), "cuda": ("-keep",), "hip": ("-save-temps=obj",)}[self.device]
        if lines:
            flags = {"": HOST, "cuda": CUDA, "hip": HIP}[self.device]
        keep = ("-keep-dir", str(out.parent)) if self.device == "cuda" else ()
        return [*words, *flags, *keep, QUIET]


def commands(build: Path, algorithms: set[str], models: set[str]) -> list[Command]:
    """The kernel files of a build folder, of these algorithms and models, or of all.

    :raises BadBuild: where there are none.
    """
    database = build / "compile_commands.json"
    try:
        entries = json.loads(database.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadBuild(f"{database}: {error}; configure with CMake first") from error
    found = [one for one in map(command, entries) if one]
    kept = [
        one
        for one in found
        if (not algorithms or one.algorithm in algorithms)
        and (not models or one.model in models)
    ]
    if not kept:
        some = ", ".join(sorted({one.algorithm for one in found})) or "no algorithm"
        raise BadBuild(f"{build}: none of these kernels; it has {some}")
    return sorted(kept, key=lambda one: (one.algorithm, one.model, one.source))


def command(entry: dict[str, str]) -> Command | None:
    """One entry of the database; None for what is no kernel."""
    words = tuple(shlex.split(entry["command"]))
    target = OBJECT.search(words[words.index("-o") + 1]) if "-o" in words else None
    root, found, rest = entry["file"].rpartition("/algorithms/")
    if not target or not found or target[2] == "problem":
        return None
    algorithm, model = target.groups()
    source = "algorithms/" + rest
    return Command(
        algorithm,
        ONE_MODEL.get(model, model),
        source,
        Path(root),
        Path(entry["directory"]),
        words,
    )
