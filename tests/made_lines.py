# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines with machine code in two builds, made up."""

from bench.report.lines import Build, Unit

KERNEL, SHARED = "algorithms/vector_add/kokkos.cpp", "algorithms/blocks/pack.hpp"


def used(*numbers, file=KERNEL):
    return frozenset((file, number) for number in numbers)


def unit(model, lines, *methods, algorithm="vector_add"):
    return Unit(algorithm, model, methods, f"algorithms/{algorithm}/{model}", lines)


def made_builds():
    """Kokkos shares two of four lines; CUDA and OpenMP share a line of a block."""
    host = [
        unit("kokkos", used(1, 2, 3), "wide", "plain"),
        unit("openmp", used(7) | used(9, file=SHARED), "wide"),
        unit("onednn", used(8)),
    ]
    gpu = [
        unit("kokkos", used(2, 3, 4), "wide", "plain"),
        unit("cuda", used(5, 6) | used(9, file=SHARED), "wide"),
        unit("openmp", used(7), "wide"),
    ]
    return {
        "openmp": Build("openmp", "abc", ("g++ 12",), tuple(host)),
        "cuda-hopper90": Build("cuda-hopper90", "abc", ("nvcc 13",), tuple(gpu)),
    }
