# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""House rules: who includes whom, who sees Kokkos and CUDA, what lies where."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# each includes itself and those before it
LAYERS = ("backends", "algorithms", "bench", "tests")
# the rooms that algorithms share, and which of them each includes; an algorithm includes all of them
ROOMS = {
    "contract": (),
    "oracle": ("contract",),
    "blocks": ("contract",),
    "drivers": ("contract",),
}
# of an algorithm: what several of its methods share
SHARED_FOLDERS = ("common", "host", "oracle")
BESIDE = (
    ".ci",
    ".github",
    ".clang-format",
    ".clang-tidy",
    ".editorconfig",
    ".gitignore",
    "LICENSE",
)
BUILD = ("CMakeLists.txt", "CMakePresets.json")
TOP = {*LAYERS, "configs", *BUILD, "README.md", *BESIDE}
CPP = {".cpp", ".hpp", ".h", ".cu", ".cuh"}
CODE = CPP | {".py", ".cmake", ".sh", ".toml", ".yml", ".yaml", ".jinja"}
SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
LONGEST = 300
GENERATED = {"bench/build_info.hpp"}  # by CMake, in the build folder
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
KOKKOS = re.compile(r"Kokkos\w*[./]")
# the dialect header maps CUDA's names to HIP's: whoever includes it sees one of both
CUDA = re.compile(
    r"(cuda|cub|rocprim|rocblas|thrust|cooperative_groups|nvtx3|hip|rccl|roctracer)/|\w+_dialect\.hpp"
    r"|(cuda|cublas|cudnn|nvToolsExt|nvml|nccl|hip|hipblas|roctx|mma|curand)\w*\.(h|hpp|cuh)$"
)


def project_files():
    """Files that belong to the project, by path from the root."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        names = done.stdout.decode().split("\0")
    except (OSError, subprocess.CalledProcessError):  # a copy without git
        kept = [ROOT / name for name in sorted(TOP)]
        trees = [path.rglob("*") if path.is_dir() else [path] for path in kept]
        names = [os.fspath(p.relative_to(ROOT)) for tree in trees for p in tree]
        names = [name for name in names if "__pycache__" not in name]
    return sorted(name for name in names if name and (ROOT / name).is_file())


FILES = project_files()
SOURCES = [n for n in FILES if Path(n).suffix in CPP and n.split("/")[0] in LAYERS]


# of the model `kokkos`: Kokkos' API and C++, no instruction or function of an architecture
PORTABLE = [
    n
    for n in SOURCES
    if re.fullmatch(r"(algorithms/(\w+/)+|tests/algorithms/axpy/)kokkos\w*\.cpp", n)
    and not re.search(r"/kokkos_(specialised|kernels)\w*\.cpp", n)
]
ARCHITECTURE = re.compile(
    r"\b_mm\d*_\w+|\bimmintrin\b|\b__CUDA_ARCH__\b|\b__HIP_DEVICE_COMPILE__\b|\basm\b|\b__asm__\b"
    r"|\b__(shfl|ldg|ldcg|ldcs|stcs|byte_perm|ballot|reduce)\w*\s*\(|\b__builtin_(ia32|amdgcn|nontemporal)\w*"
    r"|\b__(syncthreads|syncwarp|threadfence|nanosleep)\w*\s*\(|\b(thread|block)Idx\b"
)


MODEL_HEADERS = [
    n
    for n in SOURCES
    if re.fullmatch(
        r"algorithms/(?!blocks/|drivers/)(\w+/)+(serial|openmp|kokkos|cuda)\w*\.hpp", n
    )
]


@cache
def read(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def includes(text):
    """Own headers, and others, that a text includes; own ones by path from the root."""
    own, other = [], []
    for _, target in INCLUDE.findall(text):
        (own if target.split("/")[0] in LAYERS else other).append(target)
    return own, other


@cache
def reached(name):
    """A file and the headers of ours that it includes, directly or through others."""
    todo, done = [name], set()
    while todo:
        here = todo.pop()
        if here in done or not (ROOT / here).is_file():
            continue
        done.add(here)
        todo += includes(read(here))[0]
    return done


def seen(name):
    """Headers of others that a file sees, through headers of ours too."""
    return {header for here in reached(name) for header in includes(read(here))[1]}


def wrong_direction(name, target):
    """Why this file may not include this header of ours; empty when it may."""
    here, there = name.split("/"), target.split("/")
    if LAYERS.index(there[0]) > LAYERS.index(here[0]):
        return f"{here[0]} must not include {there[0]}"
    if here[0] != "algorithms" or there[0] != "algorithms" or here[1] == there[1]:
        return ""
    if there[1] in ROOMS.get(here[1], ROOMS):
        return ""
    return f"{here[1]} must not include {there[1]}"


def between_methods(name, target):
    """Why the file of a method may not include this header; empty when it may."""
    here, there = name.split("/"), target.split("/")
    if (
        here[:2] != there[:2]
        or len(there) < 4
        or there[2] in (here[2], *SHARED_FOLDERS)
    ):
        return ""
    return f"{here[2]} must not include {there[2]}: that is another method"


def may_see(name):
    """Which of Kokkos and CUDA a file may see."""
    parts, base = name.split("/"), name.rsplit("/", 1)[-1]
    if parts[:2] == ["algorithms", "blocks"]:
        return {"Kokkos", "CUDA"}
    if parts[0] == "backends" and len(parts) > 2:
        own = {"kokkos": {"Kokkos", "CUDA"}, "kokkos_kernels": {"Kokkos", "CUDA"}}
        cuda = ("cuda", "cudnn", "hip", "nccl")
        return own.get(parts[1], {"CUDA"} if parts[1] in cuda else set())
    if re.fullmatch(r"kokkos\w*\.(cpp|hpp)", base):
        return {"Kokkos", "CUDA"}
    return (
        {"CUDA"}
        if re.fullmatch(r"(cuda|cub|cublas|cudnn)\w*\.(cu|hpp)", base)
        else set()
    )


def foreign(headers):
    """Which of Kokkos and CUDA these headers belong to."""
    kinds = {"Kokkos" for header in headers if KOKKOS.match(header)}
    return kinds | {"CUDA" for header in headers if CUDA.match(header)}


def longest_allowed(name):
    """Code and build files are held to the limit; text and data are not."""
    return not name.startswith("configs/tuned/") and (
        Path(name).suffix in CODE or name.endswith("CMakeLists.txt") or is_script(name)
    )


def is_script(name):
    return not Path(name).suffix and read(name).startswith("#!")


CHECKED = [name for name in FILES if longest_allowed(name)]


def test_the_rules_see_what_they_must():
    assert wrong_direction("backends/a.hpp", "algorithms/contract/algorithm.hpp")
    assert wrong_direction("algorithms/knn/knn.hpp", "bench/study/study.hpp")
    assert wrong_direction("algorithms/knn/knn.cpp", "algorithms/fft/fft.hpp")
    assert wrong_direction("algorithms/blocks/b.hpp", "algorithms/knn/knn.hpp")
    assert wrong_direction(
        "algorithms/contract/algorithm.hpp", "algorithms/knn/knn.hpp"
    )
    assert not wrong_direction("algorithms/knn/cuda.cu", "algorithms/blocks/b.hpp")
    assert not wrong_direction(
        "algorithms/knn/cuda.cu", "algorithms/contract/algorithm.hpp"
    )
    assert not wrong_direction("tests/knn.cpp", "algorithms/knn/knn.hpp")
    assert between_methods("algorithms/sum/a/cuda.cu", "algorithms/sum/b/kernel.hpp")
    assert between_methods("algorithms/sum/sum.cpp", "algorithms/sum/b/kernel.hpp")
    for kept in ("sum.hpp", "a/kernel.hpp", "common/chunks.hpp"):
        assert not between_methods("algorithms/sum/a/cuda.cu", f"algorithms/sum/{kept}")
    assert foreign(["Kokkos_Core.hpp", "cuda_runtime.h", "cstdint"]) == {
        "Kokkos",
        "CUDA",
    }
    assert foreign(["cub/cub.cuh"]) == foreign(["mma.h"]) == {"CUDA"}
    assert foreign(["KokkosBlas3_gemm.hpp"]) == {"Kokkos"}
    assert may_see("algorithms/knn/kokkos_gram.cpp") == {"Kokkos", "CUDA"}
    assert may_see("algorithms/knn/cublas.cu") == {"CUDA"}
    assert may_see("backends/cudnn/library.hpp") == {"CUDA"}
    assert may_see("algorithms/knn/knn.cpp") == may_see("bench/cli/league.cpp") == set()
    assert (
        may_see("backends/openmp/openmp.hpp")
        == may_see("backends/runtime.hpp")
        == set()
    )


@pytest.mark.parametrize("name", SOURCES)
def test_includes(name):
    own, _ = includes(read(name))
    wrong = [
        f"{target}: {why}"
        for target in own
        for rule in (wrong_direction, between_methods)
        if (why := rule(name, target))
    ]
    wrong += [
        f"{t}: no such file"
        for t in own
        if t not in GENERATED and not (ROOT / t).is_file()
    ]
    quoted = [
        t for sign, t in INCLUDE.findall(read(name)) if sign == '"' and t not in own
    ]
    wrong += [f"{t}: write it from the root, or in <> if not ours" for t in quoted]
    extra = foreign(seen(name)) - may_see(name)
    wrong += [f"sees {kind} headers" for kind in sorted(extra)]
    assert not wrong


@pytest.mark.parametrize("name", CHECKED)
def test_length_and_licence(name):
    lines = read(name).splitlines()
    assert len(lines) <= LONGEST
    first = lines[1 if lines and lines[0].startswith("#!") else 0] if lines else ""
    assert SPDX in first


def test_top_level_names():
    assert {name.split("/")[0] for name in FILES} <= TOP


@pytest.mark.parametrize("name", MODEL_HEADERS)
def test_model_headers_have_a_namespace_of_their_own(name):
    """One executable holds all models: a class of the same name in two of them would be taken for one."""
    model = re.split(r"[_.]", Path(name).name)[0]
    found = re.findall(r"^namespace ([\w:]+) \{", read(name), re.MULTILINE)
    assert found and all(f"::{model}" in space for space in found), found


def test_json_becomes_text_in_one_place():
    """What is not UTF-8 is replaced there; elsewhere it would end a run."""
    users = [n for n in SOURCES if not n.startswith("tests/") and ".dump(" in read(n)]
    assert users == ["bench/json.cpp"]


def test_what_is_of_an_architecture_is_recognised():
    of_one = ["_mm256_sqrt_ps(x)", "#if defined(__CUDA_ARCH__)", "__ldcg(from)"]
    of_one += ["asm volatile(", "threadIdx.x", "__syncthreads();"]
    assert all(ARCHITECTURE.search(code) for code in of_one)
    of_none = [
        "Kokkos::atomic_add(to, 1)",
        "team.team_barrier();",
        "__builtin_memcpy(a, b, 4);",
    ]
    assert not any(ARCHITECTURE.search(code) for code in of_none)


@pytest.mark.parametrize("name", PORTABLE)
def test_portable_kernels_hold_no_code_of_an_architecture(name):
    """What `kokkos_specialised` is for: nobody shall say that portable was redefined."""
    found = {
        f"{here}: {code[0]}"
        for here in reached(name)
        for code in ARCHITECTURE.finditer(read(here))
    }
    assert not found
