# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What object files tell: the lines that have machine code, and the machine code itself.

Host objects, CUDA's cubins and AMD's code objects are all ELF files with DWARF line tables.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from pathlib import Path

from elftools.common.utils import struct_parse
from elftools.dwarf.lineprogram import LineProgram
from elftools.dwarf.structs import DWARFStructs
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

LATEST = 4  # of DWARF: from 5 on the names of files lie in another section


class BadTable(Exception):
    """A line table that this cannot read; the message names the file."""


def lines(file: Path, folder: Path) -> set[tuple[str, int]]:
    """Absolute paths and numbers of the lines that at least one instruction belongs to.

    An instruction belongs to the innermost function that was inlined there. `folder`: where the file was compiled.
    """
    found = set()
    for program in programs(file):
        names = paths(program, folder)
        found |= {(names[at - 1], line) for at, line in rows(program) if at and line}
    return found


def rows(program: LineProgram) -> Iterator[tuple[int, int]]:
    """File and line of each row of a table that spans an instruction."""
    last = None
    for one in program.get_entries():
        if one.state is None:
            continue
        if last and not last.end_sequence and one.state.address > last.address:
            yield last.file, last.line
        last = one.state


def paths(program: LineProgram, folder: Path) -> list[str]:
    """The files that a table numbers from 1 on."""
    directories = ["", *map(os.fsdecode, program.header["include_directory"])]
    return [
        os.path.normpath(
            os.path.join(folder, directories[one.dir_index], os.fsdecode(one.name))
        )
        for one in program.header["file_entry"]
    ]


def programs(file: Path) -> Iterator[LineProgram]:
    """The line tables of an object file, one for each unit of compilation.

    :raises BadTable: where one is newer than DWARF 4.
    """
    with file.open("rb") as stream:
        elf = ELFFile(stream)
        structs = DWARFStructs(elf.little_endian, 32, elf.elfclass // 8)
        section = elf.get_section_by_name(".debug_line")
        data = section.data() if section else b""
    table, at = io.BytesIO(data), 0
    while at < len(data):
        header = struct_parse(structs.Dwarf_lineprog_header, table, at)
        if header["version"] > LATEST:
            raise BadTable(f"{file}: a line table of DWARF {header['version']}")
        start, length = table.tell(), structs.initial_length_field_size()
        at += header["unit_length"] + length
        yield LineProgram(header, table, structs, start, at)


def code_bytes(file: Path) -> int:
    """Of the sections with instructions."""
    return sum(map(len, instructions(file)))


def code(file: Path) -> list[str]:
    """Hashes of the sections with instructions: equal for the same machine code.

    Their names do not count: nvcc writes the number of its process into those of unnamed namespaces.
    """
    return sorted(hashlib.sha256(data).hexdigest() for data in instructions(file))


def instructions(file: Path) -> list[bytes]:
    """The sections with instructions."""
    with file.open("rb") as stream:
        return [
            section.data()
            for section in ELFFile(stream).iter_sections()
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR and section.data_size
        ]
