# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The preset `cuda` builds for the GPU that nvidia-smi reports; with a stub of it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cubins import listed, section

ROOT = Path(__file__).resolve().parents[2]
BESIDE = shutil.which("cmake", path=Path(sys.executable).parent)
CMAKE = BESIDE or shutil.which("cmake") or ""
PROJECT = f"""
cmake_minimum_required(VERSION 3.25.2)
project(probe LANGUAGES NONE)
include({ROOT}/backends/cuda/architecture.cmake)
message(STATUS "chosen: ${{CMAKE_CUDA_ARCHITECTURES}} ${{league_no_units}}.")
"""
GPUS = [
    ("7.5", "75", "TURING75"),
    ("8.0", "80", "AMPERE80"),
    ("8.6", "86", "AMPERE86"),
    ("8.9", "89", "ADA89"),
    ("9.0", "90", "HOPPER90"),
    ("10.0", "100", "BLACKWELL100"),
    ("10.3", "100", "BLACKWELL100"),
    ("12.0", "120", "BLACKWELL120"),
    ("12.1", "120", "BLACKWELL120"),
]
BUILT = ["7.5", "8.9", "10.0", "12.0"]
NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")

pytestmark = pytest.mark.skipif(not CMAKE, reason="needs cmake")


@pytest.fixture
def machine(tmp_path):
    """A folder before all others on PATH, with the stubs that a test puts there."""
    tools = tmp_path / "tools"
    tools.mkdir()
    return tools


def stub(tools, name, *lines, code=0):
    echoed = "".join(f"echo '{line}'\n" for line in lines)
    (tools / name).write_text(f"#!/bin/sh\n{echoed}exit {code}\n")
    (tools / name).chmod(0o755)


def all_compile(tools):
    stub(tools, "nvcc", *(f"compute_{gpu[1]}" for gpu in GPUS))


def configure(tools, *options, source=None):
    if source is None:
        source = tools.parent / "source"
        source.mkdir(exist_ok=True)
        (source / "CMakeLists.txt").write_text(PROJECT)
    build = tools.parent / "build"
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    for name in ("CUDACXX", "CUDA_PATH", "CUDAARCHS"):
        environment.pop(name, None)
    done = subprocess.run(
        [CMAKE, "-G", "Ninja", "-S", source, "-B", build, *options],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    cache = build / "CMakeCache.txt"
    text = cache.read_text() if cache.exists() else ""
    kokkos = re.findall(r"^Kokkos_ARCH_(\w+):BOOL=ON$", text, re.MULTILINE)
    return done, done.stdout + done.stderr, kokkos


NATIVE = "-DLEAGUE_CUDA_ARCH=native"


@pytest.mark.parametrize(("capability", "architecture", "kokkos"), GPUS)
def test_the_gpu_that_answers_is_built_for(machine, capability, architecture, kokkos):
    all_compile(machine)
    stub(machine, "nvidia-smi", capability)
    done, said, found = configure(machine, NATIVE)
    assert done.returncode == 0, said
    units = "[^/]*_(mma|tensor)" if architecture == "75" else ""
    assert f"chosen: {architecture} {units}." in said and found == [kokkos]


@pytest.mark.parametrize("named", ["8.9", "89"])
def test_a_gpu_of_another_machine_can_be_named(machine, named):
    all_compile(machine)
    stub(machine, "nvidia-smi", "9.0")
    _, said, found = configure(machine, f"-DLEAGUE_CUDA_ARCH={named}")
    assert "chosen: 89 ." in said and found == ["ADA89"]


def test_of_several_kinds_the_newest_is_built_for(machine):
    all_compile(machine)
    stub(machine, "nvidia-smi", "7.5", "12.0", "8.9")
    _, said, found = configure(machine, NATIVE)
    assert found == ["BLACKWELL120"] and "12.0, 8.9, 7.5" in said


def test_another_gpu_replaces_the_one_before_and_none_keeps_it(machine):
    all_compile(machine)
    stub(machine, "nvidia-smi", "8.0")
    configure(machine, NATIVE)
    stub(machine, "nvidia-smi", "9.0")
    _, said, found = configure(machine)
    assert found == ["HOPPER90"] and "chosen: 90 ." in said
    stub(machine, "nvidia-smi", "NVIDIA-SMI has failed, 10.0", code=9)
    _, said, found = configure(machine)
    assert found == ["HOPPER90"] and "chosen: 90 ." in said


@pytest.mark.parametrize(
    ("answers", "code", "words"),
    [
        (["6.1"], 0, ["6.1", "7.5, 8.0", "preset openmp"]),
        (["13.0"], 0, ["13.0", "LEAGUE_CUDA_ARCH"]),
        (["No devices were found"], 6, ["No NVIDIA GPU answers", "-D LEAGUE_CUDA"]),
    ],
)
def test_a_gpu_without_a_build_is_told_with_what_to_do(machine, answers, code, words):
    all_compile(machine)
    stub(machine, "nvidia-smi", *answers, code=code)
    done, said, _ = configure(machine, NATIVE)
    said = " ".join(said.split())
    assert done.returncode != 0 and all(word in said for word in words), said


def test_a_compiler_that_is_too_old_is_told(machine):
    stub(machine, "nvcc", "compute_75", "compute_90", "compute_103")
    stub(machine, "nvidia-smi", "10.0")
    done, said, _ = configure(machine, NATIVE)
    assert done.returncode != 0 and "CUDA 12.8 and newer" in said


@pytest.mark.skipif(not NVCC, reason="needs nvcc")
@pytest.mark.parametrize("capability", BUILT)
def test_objects_hold_code_for_that_gpu(machine, capability):
    """The project itself, without Kokkos: one model of one algorithm."""
    stub(machine, "nvidia-smi", capability)
    options = "CUDA=ON KOKKOS=OFF TESTS=OFF MPI=OFF ONEDNN=OFF ALGORITHMS=vector_add"
    words = [f"-DLEAGUE_{option}" for option in f"{options} ARCH=native".split()]
    done, said, _ = configure(machine, NATIVE, *words, source=ROOT)
    assert done.returncode == 0, said
    build = machine.parent / "build"
    subprocess.run([CMAKE, "--build", build, "-t", "vector_add.cuda"], check=True)
    made = sorted(build.glob("CMakeFiles/vector_add.cuda.dir/**/*.o"))
    assert made
    architecture = capability.replace(".", "")
    for one in made:
        found = listed(section(one))
        assert {name for name in found if name.startswith("sm_")} == {
            f"sm_{architecture}"
        }
