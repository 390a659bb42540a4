# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of an object file: what ptxas says of them, AMD's notes, and their instructions by class.

Instructions need a disassembler, ``nvdisasm`` or ``llvm-objdump``, beside the compiler or on PATH; without one their
classes are left out.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import NoteSection

from bench.report.codes import OWN, Code, plain

# The first that fits a whole opcode, without its modifiers, says its class; AMD's are lower case.
CLASSES = {
    "matrix": r"[A-Z]+MMA|v_s?mfma\w+",
    "global loads": r"LD|LDG|LDGSTS|UBLKCP|UTMALDG|(global|flat|buffer)_load\w+",
    "global stores": r"ST|STG|RED|ATOM|ATOMG|UTMASTG|UTMAREDG|(global|flat|buffer)_(store|atomic)\w+",
    "shared": r"LDS|STS|LDSM|STSM|ATOMS|ds_(read|write|add|max|min|sub|or|and|cmpst)\w+",
    "local": r"LDL|STL|scratch_\w+",
    "conversions": r"F2F|F2I|I2F|I2I|F2FP|I2FP|I2IP|F2IP|FRND|v_cvt_\w+",
    "multiply-adds": r"[FD]FMA|HFMA2|v_(pk_)?(fma|mac|mad)\w*_f(16|32|64)\w*",
    "other float": r"F[A-Z0-9]+|D(ADD|MUL|SETP|MNMX)|H[A-Z]+2|MUFU|v_\w+_f(16|32|64)\w*",
    "control": r"BRA|BRX|JMP|EXIT|BAR|BSSY|BSYNC|BREAK|CALL|RET|WARPSYNC|DEPBAR|YIELD|NANOSLEEP|MEMBAR|SYNCS"
    r"|BPT|KILL|WARPGROUP|s_(c?branch|barrier|endpgm|waitcnt|sleep|call|setpc|swappc)\w*",
    "integer": r"U?(IADD3?|IMAD|LOP3|LEA|SHF|ISETP|IMNMX|PRMT|SEL|IABS|POPC|FLO|BMSK|SGXT|BREV)|VIADD\w*|VIMNMX\w*|IDP"
    r"|(?![vs]_mov)[vs]_\w+_([iub]|nc_[iu])(16|24|32|64)\w*",
}
PADDING = ("NOP", "s_nop", "s_code_end")
OTHER = "other"  # moves, constants, shuffles
FIRST = re.compile(
    "|".join(f"(?P<c{i}>{one})$" for i, one in enumerate(CLASSES.values()))
)

USED = re.compile(
    r"Compiling entry function '(?P<name>\w+)'|(?P<stack>\d+) bytes stack frame, (?P<spilled>\d+) bytes spill stores"
    r"|Used (?P<registers>\d+) registers(?:.*?(?P<shared>\d+) bytes smem)?"
)
# nvdisasm: ``.text.NAME:``, then ``/*0070*/ @P0 EXIT ;``; llvm-objdump: ``0000 <NAME>:``, then a tab and the instruction.
KERNEL = re.compile(r"(?:\.text\.(\w+)|[0-9a-f]+ <(\w+)>):$")
OPCODE = re.compile(
    r"\s+(?:/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z]\w+)|([a-z]\w*_\w+))"
)
NOTE = {
    ".vgpr_count": "VGPRs",
    ".agpr_count": "AGPRs",
    ".sgpr_count": "SGPRs",
    ".vgpr_spill_count": "spilled VGPRs",
    ".sgpr_spill_count": "spilled SGPRs",
    ".private_segment_fixed_size": "stack bytes",
    ".group_segment_fixed_size": "shared bytes",
}


def by_ptxas(said: str) -> dict[str, dict[str, int]]:
    """Of what ``ptxas -v`` says: facts of each kernel."""
    found: dict[str, dict[str, int]] = {}
    facts: dict[str, int] = {}
    for one in USED.finditer(said):
        if one["name"]:
            facts = found.setdefault(one["name"], {})
        elif one["stack"]:
            facts |= {"stack bytes": int(one["stack"])}
            facts |= {"spilled bytes": int(one["spilled"])}
        else:
            facts |= {"registers": int(one["registers"])}
            facts |= {"shared bytes": int(one["shared"] or 0)}
    return found


def by_notes(file: Path) -> dict[str, dict[str, int]]:
    """The same of the notes in one of AMD's code objects."""
    with file.open("rb") as stream:
        notes = [
            note["n_descdata"]
            for section in ELFFile(stream).iter_sections()
            if isinstance(section, NoteSection)
            for note in section.iter_notes()
            if note["n_name"] == "AMDGPU"
        ]
    kernels = [
        kernel
        for note in notes
        for kernel in msgspec.msgpack.decode(note).get("amdhsa.kernels", [])
    ]
    return {
        kernel[".name"]: {
            fact: kernel[key] for key, fact in NOTE.items() if key in kernel
        }
        for kernel in kernels
    }


def disassembler(compiler: str, device: str) -> list[str]:
    """Its command line; nothing where there is none."""
    beside = str(Path(shutil.which(compiler) or compiler).resolve().parent)
    names = {"cuda": ("nvdisasm", "-c"), "hip": ("llvm-objdump", "-d")}
    name, flag = names[device]
    tool = shutil.which(name, path=beside) or shutil.which(name)
    return [tool, flag] if tool else []


def by_class(listing: Iterable[str]) -> dict[str, Counter[str]]:
    """Of a disassembler's lines: how many instructions of each class a kernel has."""
    found: dict[str, Counter[str]] = {}
    counts: Counter[str] = Counter()
    for line in listing:
        if head := KERNEL.match(line):
            counts = found.setdefault(head[1] or head[2], Counter())
        elif one := OPCODE.match(line):
            opcode = one[1] or one[2]
            if opcode not in PADDING:
                counts[class_of(opcode)] += 1
    return found


def class_of(opcode: str) -> str:
    """Of CLASSES, or OTHER."""
    found = FIRST.match(opcode)
    return (
        list(CLASSES)[int(found.lastgroup[1:])] if found and found.lastgroup else OTHER
    )


def codes(
    facts: dict[str, dict[str, int]], files: Iterable[Path], tool: list[str]
) -> Iterator[Code]:
    """Our own of these kernels, without those that Kokkos has for itself."""
    counted: dict[str, Counter[str]] = {}
    for file in files if tool else ():
        said = subprocess.run(
            [*tool, str(file)], capture_output=True, text=True, check=True
        )
        counted |= by_class(said.stdout.splitlines())
    for name, one in facts.items():
        if OWN in (own := plain(name)):
            yield Code(own, one, dict(counted.get(name, {})))
