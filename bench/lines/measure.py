# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the kernels of one build with line tables, aside, and reads those."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bench.report.codes import Code
from bench.report.lines import Build, Unit, Used

from . import kernels, tables
from .commands import Command

DEVICE_CODE = {"": "", "cuda": "*.cubin", "hip": "*-hip-amdgcn-*.out"}
BLOCKS = "algorithms/blocks/"


class Failed(Exception):
    """A file that does not compile; the message says which."""


@dataclass(frozen=True)
class Compiled:
    """What a compiler left of one file."""

    host: Path  # the object
    device: list[Path]  # the code for GPUs that it holds
    seconds: float  # of processors
    said: str

    @property
    def files(self) -> list[Path]:
        """All with machine code."""
        return [self.host, *self.device]


def compiled(command: Command, folder: Path, lines: bool) -> Compiled:
    """The object file, and the device code that it holds.

    :raises Failed: with what the compiler says.
    """
    out, log = folder / "kernel.o", folder / "said"
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(
            command.to(out, lines), cwd=command.folder, stdout=said, stderr=said
        )
        # not the clock's: several compilers share the processors
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    text = log.read_text(encoding="utf-8", errors="replace")
    if process.returncode:
        raise Failed(f"{command.source} does not compile:\n{text.strip()}")
    pattern = DEVICE_CODE[command.device]
    device = sorted(folder.glob(pattern)) if pattern else []
    if pattern and not device:
        raise Failed(f"{command.source}: the compiler left no {pattern}")
    return Compiled(out, device, used.ru_utime + used.ru_stime, text)


def unit(command: Command, verify: bool = False) -> Unit:
    """The lines of one kernel file. `verify`: compiles it without line tables too, and compares the machine code.

    :raises Failed: where it does not compile.
    """
    with tempfile.TemporaryDirectory() as name:
        made = compiled(command, Path(name), lines=True)
        found = [
            line for file in made.files for line in tables.lines(file, command.folder)
        ]
        hashes = [tables.code(file) for file in made.files]
        size = sum(map(tables.code_bytes, made.device or [made.host]))
        codes = tuple(kernels_of(command, made))
    same = None
    if verify:
        with tempfile.TemporaryDirectory() as name:
            plain = compiled(command, Path(name), lines=False)
            same = hashes == [tables.code(file) for file in plain.files]
    used = counted(found, command.root, command.algorithm)
    names = (command.algorithm, command.model, command.methods)
    return Unit(*names, command.source, used, same, made.seconds, size, codes)


def kernels_of(command: Command, made: Compiled) -> Iterator[Code]:
    """Those in the code for GPUs."""
    if not command.device:
        return
    facts = kernels.by_ptxas(made.said)
    for file in made.device if command.device == "hip" else ():
        facts |= kernels.by_notes(file)
    tool = kernels.disassembler(command.compiler, command.device)
    yield from kernels.codes(facts, made.device, tool)


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
