# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines with machine code in two builds, made up."""

from bench.report.codes import Code
from bench.report.lines import Build, Unit

KERNEL, SHARED = "algorithms/vector_add/kokkos.cpp", "algorithms/blocks/pack.hpp"


def used(*numbers, file=KERNEL):
    return frozenset((file, number) for number in numbers)


def unit(model, lines, *methods, algorithm="vector_add", **more):
    source = f"algorithms/{algorithm}/{model}"
    return Unit(algorithm, model, methods, source, lines, **more)


def code(name, registers, **instructions):
    """A kernel's; 8 bytes are spilled."""
    facts = {"registers": registers, "spilled bytes": 8}
    return Code(name, facts, instructions)


ADD, OF_KOKKOS = (
    "_ZN6league12_GLOBAL__N_13addEv",
    "_ZN6Kokkos3runIN6league7AddRowsEEEvT_",
)


def made_builds():
    """Kokkos shares two of four lines; CUDA and OpenMP share a line of a block."""
    host = [
        unit("kokkos", used(1, 2, 3), "wide", "plain"),
        unit("openmp", used(7) | used(9, file=SHARED), "wide"),
        unit("onednn", used(8)),
    ]
    of_kokkos = {"kernels": (code(OF_KOKKOS, 40, integer=300, control=9),)}
    kernels = (code(ADD, 26, integer=200), code("_ZN6league4fillEv", 30))
    of_cuda = {"kernels": kernels, "seconds": 9.5, "code_bytes": 4096}
    gpu = [
        unit("kokkos", used(2, 3, 4), "wide", "plain", **of_kokkos),
        unit("cuda", used(5, 6) | used(9, file=SHARED), "wide", **of_cuda),
        unit("openmp", used(7), "wide"),
    ]
    return {
        "openmp": Build("openmp", "abc", ("g++ 12",), tuple(host)),
        "cuda-hopper90": Build("cuda-hopper90", "abc", ("nvcc 13",), tuple(gpu)),
    }
