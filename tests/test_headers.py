# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every header compiles alone, with the flags of a file that may include it: minutes, in .ci/nightly."""

import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEADERS = sorted(
    path.relative_to(ROOT).as_posix()
    for layer in ("backends", "algorithms", "bench", "tests")
    for path in (ROOT / layer).rglob("*.hpp")
)
# what a header is compiled as: the build whose flags it takes, a file that has them, what to add to them
KINDS = {
    "host": ("openmp", "bench/cli/league.cpp", ["-fsyntax-only", "-x", "c++"]),
    "kokkos": (
        "openmp",
        "algorithms/vector_add/wide/kokkos.cpp",
        ["-fsyntax-only", "-x", "c++"],
    ),
    "cuda": (
        "cuda-hopper90",
        "algorithms/vector_add/wide/cuda.cu",
        ["-cuda", "-o", os.devnull, "-x", "cu"],
    ),
}


def kind(header):
    """Which of the kinds a header is; None for those of one dialect or compiler only."""
    if re.match(r"backends/(hip/include/|kokkos/cuda13)", header):
        return None
    if re.search(
        r"(backends/(cuda/(?!management)|cudnn/)|/cuda_|/cublas|_cuda\.hpp)", header
    ):
        return "cuda"
    if re.search(r"(backends/kokkos/|/kokkos_|_kokkos\.hpp)", header):
        return "kokkos"
    return "host"


def folder(build):
    """The build of that preset, .ci/nightly's if that has one."""
    nightly = ROOT / "build/ci" / build
    return nightly if (nightly / "league").is_file() else ROOT / "build" / build


def flags(build, source):
    """Compiler and flags of a source in a build, without what names its input and output."""
    for entry in json.loads((folder(build) / "compile_commands.json").read_text()):
        if entry["file"] == str(ROOT / source):
            words = shlex.split(entry["command"])
            drop = {i for i, w in enumerate(words) if w in ("-c", "-o", "-x")}
            drop |= {i - 1 for i, w in enumerate(words) if w.endswith("cmake_pch.hxx")}
            drop |= {i + 1 for i in drop}
            return [
                w for i, w in enumerate(words) if i not in drop and w != entry["file"]
            ]
    raise AssertionError(f"build/{build} does not compile {source}")


@pytest.mark.parametrize("which", KINDS)
def test_headers_compile_alone(which, tmp_path):
    build, source, more = KINDS[which]
    if not os.environ.get("LEAGUE_NIGHTLY"):
        pytest.skip("takes minutes: .ci/nightly")
    if not (folder(build) / "league").is_file():
        pytest.skip(f"needs the build {build}")
    command = flags(build, source)
    headers = [header for header in HEADERS if kind(header) == which]

    def compile_alone(header):
        # not the header itself: compilers warn of #pragma once in a main file
        main = tmp_path / (header.replace("/", "-") + ".cpp")
        main.write_text(f'#include "{header}"\n')
        done = subprocess.run(
            [*command, *more, str(main)],
            check=False,
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        return (
            header if done.returncode == 0 else f"{header}: {done.stderr.strip()[:600]}"
        )

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(compile_alone, headers))
    assert headers
    assert results == headers
