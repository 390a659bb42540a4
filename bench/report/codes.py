# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compilers made of kernels: their registers, memory and instructions, by mangled name.

``python3 -m bench.lines`` reads them from builds; a record names the kernels that a compute launches.
"""

from __future__ import annotations

import re

from msgspec import Struct

OWN = "N6league"
LENGTH = re.compile(r"\d+")
# What nvcc writes for an unnamed namespace, and around what has internal linkage: hashes, and the number of its process.
OF_NVCC = re.compile(r"_(GLOBAL__N_|INTERNAL)_[0-9a-f]{8}_\d+_\w+_[0-9a-f]{8}_\d+")
BY_OTHERS = {"GLOBAL__N_": "12_GLOBAL__N_1", "INTERNAL": ""}


class Code(Struct, frozen=True):
    """The machine code of a kernel. What a kind of GPU does not have, or nothing here could read, is left out."""

    name: str  # mangled, as `plain` leaves it
    facts: dict[str, int]  # registers, spilled bytes, ...
    instructions: dict[str, int]  # by class


def plain(name: str) -> str:
    """A mangled name as in any build: without what nvcc adds."""
    at = 0
    while length := LENGTH.search(name, at):
        at = length.end()
        # before the length may be the last digits of another name
        for start in range(length.start(), at):
            end = at + int(name[start:at])
            if found := OF_NVCC.fullmatch(name, at, end):
                name = name[:start] + BY_OTHERS[found[1]] + name[end:]
                at = start
                break
    return name


def short(name: str) -> str:
    """``fused`` of ``league::knn::cuda_model::fused<...>``, in a kernel of Kokkos that of its functor."""
    if OWN not in name:
        return name
    at, last = name.index(OWN) + 1, name
    while length := LENGTH.match(name, at):
        at = length.end() + int(length[0])
        last = name[length.end() : at]
    return last
