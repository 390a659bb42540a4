# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which GPUs an object or executable holds code for: ``python tests/cubins.py FILE... [--only 89]``.

Reads the section that nvcc writes, as ``cuobjdump --list-elf --list-ptx`` does, which not every toolkit has.
"""

from __future__ import annotations

import argparse
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

MAGIC = 0xBA55ED50  # of a fat binary: its header, then entries, each with a header
KINDS = {1: "ptx", 2: "sm"}


def section(file: Path) -> bytes:
    """The bytes of ``.nv_fatbin``; none where there is no device code."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "section"
        command = ["objcopy", "-O", "binary", "--set-section-flags=.nv_fatbin=alloc"]
        command += ["--only-section=.nv_fatbin", str(file), str(out)]
        subprocess.run(command, check=True, capture_output=True)
        return out.read_bytes() if out.exists() else b""


def listed(data: bytes) -> Counter[str]:
    """How many codes there are, by ``sm_89`` and ``ptx_89``."""
    found: Counter[str] = Counter()
    at = data.find(struct.pack("<I", MAGIC))
    while at >= 0:
        _, _, header, size = struct.unpack_from("<IHHQ", data, at)
        entry, end = at + header, at + header + size
        while entry < end:
            kind, _, header, size = struct.unpack_from("<HHIQ", data, entry)
            (architecture,) = struct.unpack_from("<I", data, entry + 28)
            found[f"{KINDS.get(kind, kind)}_{architecture}"] += 1
            entry += header + size
        at = data.find(struct.pack("<I", MAGIC), end)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--only", help="fail if there is none, or one of another GPU")
    options = parser.parse_args()
    wrong = 0
    for file in options.files:
        found = listed(section(file))
        print(f"{file}: {', '.join(f'{n} {k}' for k, n in sorted(found.items()))}")
        wrong += options.only is not None and {
            name.split("_")[1] for name in found if name.startswith("sm_")
        } != {options.only}
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
