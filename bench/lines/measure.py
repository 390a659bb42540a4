# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the kernels of one build with line tables, aside, and reads those."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.report.lines import Build, Unit, Used

from . import tables
from .commands import Command

DEVICE_CODE = {"": "", "cuda": "*.cubin", "hip": "*-hip-amdgcn-*.out"}
BLOCKS = "algorithms/blocks/"


class Failed(Exception):
    """A file that does not compile; the message says which."""


def compiled(command: Command, folder: Path, lines: bool) -> list[Path]:
    """The object file, and the device code that it holds.

    :raises Failed: with what the compiler says.
    """
    out = folder / "kernel.o"
    done = subprocess.run(
        command.to(out, lines),
        cwd=command.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Failed(f"{command.source} does not compile:\n{done.stderr.strip()}")
    pattern = DEVICE_CODE[command.device]
    device = sorted(folder.glob(pattern)) if pattern else []
    if pattern and not device:
        raise Failed(f"{command.source}: the compiler left no {pattern}")
    return [out, *device]


def unit(command: Command, verify: bool = False) -> Unit:
    """The lines of one kernel file. `verify`: compiles it without line tables too, and compares the machine code.

    :raises Failed: where it does not compile.
    """
    with tempfile.TemporaryDirectory() as name:
        files = compiled(command, Path(name), lines=True)
        found = [line for file in files for line in tables.lines(file, command.folder)]
        codes = [tables.code(file) for file in files]
    same = None
    if verify:
        with tempfile.TemporaryDirectory() as name:
            files = compiled(command, Path(name), lines=False)
            same = codes == [tables.code(file) for file in files]
    used = counted(found, command.root, command.algorithm)
    names = (command.algorithm, command.model, command.methods)
    return Unit(*names, command.source, used, same)


def counted(found: Iterable[tuple[str, int]], root: Path, algorithm: str) -> Used:
    """Of all lines those of the algorithm's folder and of the shared blocks, by path from the root."""
    above = f"{root}/"
    kept = (f"algorithms/{algorithm}/", BLOCKS)
    inside = ((f.removeprefix(above), n) for f, n in found if f.startswith(above))
    return frozenset((file, number) for file, number in inside if file.startswith(kept))


def measure(
    name: str,
    commands: list[Command],
    jobs: int,
    verify: bool,
    told: Callable[[Unit], None],
) -> Build:
    """All of these kernels as one build, `jobs` compilers at a time.

    :raises Failed: at the first file that fails.
    """
    with ThreadPoolExecutor(jobs) as pool:
        pending = [pool.submit(unit, command, verify) for command in commands]
        units = []
        try:
            for one in pending:
                units.append(one.result())
                told(units[-1])
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    compilers = dict.fromkeys(version(c) for c in {c.compiler: c for c in commands})
    return Build(name, commit(commands[0].root), tuple(compilers), tuple(units))


def version(compiler: str) -> str:
    """The line in which a compiler names its version."""
    said = subprocess.run(
        [compiler, "--version"], capture_output=True, text=True, check=True
    )
    named = (line for line in said.stdout.splitlines() if re.search(r"\d\.\d", line))
    return next(named, os.path.basename(compiler))


def commit(root: Path) -> str:
    """The commit of the sources; ``-dirty`` with changes, ``unknown`` without git."""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty"]
    try:
        said = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return said.stdout.strip()
