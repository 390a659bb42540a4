# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lines with machine code, of small programs that are compiled here."""

import json
import shutil
import subprocess

import pytest

pytest.importorskip("elftools")

from bench.lines import tables
from bench.lines.__main__ import main
from bench.lines.commands import METHOD, BadBuild, commands
from bench.lines.kernels import disassembler
from bench.report.lines import read

GCC = shutil.which("g++") or ""
NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin") or ""
CLANG = shutil.which("clang++-19") or ""

KERNEL = """#include "algorithms/blocks/twice.hpp"
template <bool gpu>
int kernel(int n) {
  if constexpr (gpu)
    return n + 1;
  else
    return twice(n);
}
struct Registered { const char* method; int model; };
constexpr int model = 1;
Registered plain{"plain", model}, wide{"wide", model};
int run(int n) { return kernel<ON_GPU>(n); }
"""
BLOCK = """inline int twice(int n) {
  return 2 * n;
}
inline int never(int n) {
  return 3 * n;
}
"""
DEVICE = """namespace league { __global__ void kernel(int n, int* to) {
  to[threadIdx.x] = n;
  if constexpr (sizeof(int) > 8)
    to[0] = 7;
}
void launch(int* to) { kernel<<<1, 32>>>(3, to); } }
"""
HIP = """#define __global__ __attribute__((global))
struct dim3 { unsigned x, y = 1, z = 1; dim3(int n) : x(n) {} };
struct Lane { __attribute__((device)) operator unsigned() const { return __builtin_amdgcn_workitem_id_x(); } };
struct Lanes { Lane x; };
#define threadIdx Lanes{}
extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, unsigned long, void*);
extern "C" int __hipPushCallConfiguration(dim3, dim3, unsigned long = 0, void* = nullptr);
extern "C" int __hipPopCallConfiguration(dim3*, dim3*, unsigned long*, void*);
"""  # what the kernel needs of ROCm, which may be missing
SOURCE = "algorithms/toy/kokkos.cpp"
EXACT = "-O0"  # each statement that is instantiated has machine code

pytestmark = pytest.mark.skipif(not GCC, reason="needs g++")


@pytest.fixture
def project(tmp_path):
    """A folder with one kernel file and one shared block."""
    root = tmp_path / "project"
    for name, text in {SOURCE: KERNEL, "algorithms/blocks/twice.hpp": BLOCK}.items():
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text(text)
    return root


def configured(root, name, *flags, compiler=GCC, source=SOURCE, target="toy.kokkos"):
    """A build folder as CMake leaves it, nothing built."""
    build = root.parent / name
    build.mkdir(exist_ok=True)
    out = f"CMakeFiles/{target}.dir/{source}.o"
    words = [compiler, f"-I{root}", *flags, "-o", out, "-c", f"{root}/{source}"]
    entry = {"directory": str(build), "command": " ".join(words)}
    entries = [{**entry, "file": f"{root}/{source}", "output": f"{build}/{out}"}]
    (build / "compile_commands.json").write_text(json.dumps(entries))
    return build


def numbers(build, file):
    return sorted(n for name, n in build.used("toy", "wide", "kokkos") if name == file)


def test_lines_of_two_builds(project, tmp_path, capsys):
    """The discarded branch, and the block that only one build calls, have no machine code."""
    host = configured(project, "host", EXACT, "-DON_GPU=false")
    gpu = configured(project, "gpu", EXACT, "-DON_GPU=true")
    out = tmp_path / "lines.json"
    assert main([str(host), str(gpu), "--verify", "--output", str(out)]) == 0
    builds = read([out])
    assert list(builds) == ["host", "gpu"]
    assert numbers(builds["host"], SOURCE) == [3, 7, 8, 12]
    assert numbers(builds["gpu"], SOURCE) == [3, 5, 8, 12]
    block = "algorithms/blocks/twice.hpp"
    assert numbers(builds["host"], block) == [1, 2, 3]
    assert numbers(builds["gpu"], block) == []
    (unit,) = builds["host"].units
    assert unit.methods == ("plain", "wide") and unit.source == SOURCE
    assert unit.seconds > 0 and unit.code_bytes > 0 and not unit.kernels
    # of 7 and 4 lines 3 are the same, and 8 are on either
    table = capsys.readouterr().out
    assert "| toy | wide | kokkos | 7 | 4 | 8 | 4.0 | 0.38 |" in table
    # a file and a folder together
    assert main([str(out), str(host)]) == 0
    assert capsys.readouterr().out == table


def test_inlined_lines_are_those_of_the_block(project):
    build = configured(project, "host", "-O2", "-DON_GPU=false")
    (command,) = commands(build, set(), set())
    out = build / "kernel.o"
    subprocess.run(command.to(out, lines=True), check=True)
    found = {n for name, n in tables.lines(out, build) if name.endswith("twice.hpp")}
    assert found == {2}


def test_headers_of_others_do_not_count(project, tmp_path):
    source = project / SOURCE
    source.write_text("#include <vector>\n" + KERNEL + "std::vector<int> more(9);\n")
    build = configured(project, "host", EXACT, "-DON_GPU=true")
    out = tmp_path / "lines.json"
    assert main([str(build), "--output", str(out)]) == 0
    files = {name for name, _ in read([out])["host"].units[0].used}
    assert files == {SOURCE}


def wrapper(tmp_path, condition):
    """A compiler that defines CHANGED for some command lines."""
    path = tmp_path / "wrapped"
    path.write_text(
        f'#!/bin/sh\ncase " $* " in {condition}) set -- "$@" -DCHANGED ;; esac\nexec {GCC} "$@"\n'
    )
    path.chmod(0o755)
    return str(path)


def test_machine_code_that_line_tables_change_is_told(project, tmp_path, capsys):
    changed = KERNEL.replace("n + 1", "n + CODE").replace(
        "template",
        "#ifdef CHANGED\n#define CODE 2\n#else\n#define CODE 1\n#endif\ntemplate",
        1,
    )
    (project / SOURCE).write_text(changed)
    compiler = wrapper(tmp_path, '*" -g1 "*')
    build = configured(project, "gpu", EXACT, "-DON_GPU=true", compiler=compiler)
    assert main([str(build), "--verify"]) == 1
    said = f"{SOURCE} (kokkos): line tables change its machine code"
    assert said in capsys.readouterr().err
    assert main([str(build)]) == 0


def test_bad_input(project, tmp_path, capsys):
    assert main([str(tmp_path)]) == 2
    assert "configure with CMake first" in capsys.readouterr().err
    build = configured(project, "host", EXACT, "-DON_GPU=true")
    assert main([str(build), "--algorithm", "knn"]) == 2
    assert "none of these kernels; it has toy" in capsys.readouterr().err
    broken = configured(project, "broken", EXACT)
    assert main([str(broken)]) == 1
    assert f"{SOURCE} does not compile:" in capsys.readouterr().err
    (text := tmp_path / "lines.json").write_text('{"schema": 9}')
    assert main([str(text)]) == 2
    assert "schema 9, this reads 2" in capsys.readouterr().err


def test_which_commands_are_kernels(project):
    """Problems, the harness and unity files are none; targets of one model are one."""
    build = configured(project, "host", target="toy.problem")
    with pytest.raises(BadBuild):
        commands(build, set(), set())
    configured(project, "host", target="backend_kokkos")
    with pytest.raises(BadBuild):
        commands(build, set(), set())
    configured(project, "host", compiler=f"ccache {GCC}", target="toy.cuda_ptx")
    (command,) = commands(build, {"toy"}, {"cuda"})
    assert command.model == "cuda" and command.compiler == GCC
    assert command.to(build / "x.o", lines=False)[0] == GCC


def test_methods_of_what_says_how_it_is_written():
    rungs = '{"one_thread", written_once(model), x}, {"tree", once_rung, y},'
    other = '{"wide",\n several_bodies(specialised_model, true)}, {"chunk", "0"}'
    assert METHOD.findall(rungs + other) == ["one_thread", "tree", "wide"]


def test_methods_are_those_registered_or_the_folder(project):
    assert METHOD.findall('{"direct", cuda::model, x}, {"tiled",\n  model}') == [
        "direct",
        "tiled",
    ]
    source = "algorithms/toy/fused/kokkos.cpp"
    (project / source).parent.mkdir()
    (project / source).write_text("int nothing;\n")
    build = configured(project, "host", source=source)
    assert commands(build, set(), set())[0].methods == ("fused",)
    (project / SOURCE).write_text("int nothing;\n")
    build = configured(project, "host")
    assert commands(build, set(), set())[0].methods == ()


def test_newer_tables_are_told(tmp_path):
    (tmp_path / "one.cpp").write_text("int one() { return 1; }\n")
    out = tmp_path / "one.o"
    command = [GCC, "-g1", "-gdwarf-5", "-c", str(tmp_path / "one.cpp"), "-o", str(out)]
    subprocess.run(command, check=True)
    with pytest.raises(tables.BadTable, match=r"one\.o: a line table of DWARF 5"):
        tables.lines(out, tmp_path)


def test_names_of_sections_do_not_count(tmp_path):
    """In objects of nvcc they hold the number of its process."""
    hashes = []
    for name in ("one", "other"):
        source, out = tmp_path / f"{name}.cpp", tmp_path / f"{name}.o"
        source.write_text(f"int {name}(int n) {{ return 3 * n; }}\n")
        command = [GCC, "-O2", "-ffunction-sections", "-c", source, "-o", out]
        subprocess.run(command, check=True)
        hashes.append(tables.code(out))
    assert len(hashes[0]) == 1 and hashes[0] == hashes[1]


def device_unit(project, tmp_path, *flags, compiler, target):
    source = "algorithms/toy/cuda.cu"
    (project / source).write_text(DEVICE)
    build = configured(
        project, "gpu", *flags, compiler=compiler, source=source, target=target
    )
    out = tmp_path / "lines.json"
    assert main([str(build), "--output", str(out)]) == 0
    (unit,) = read([out])["gpu"].units
    assert unit.seconds > 0 and unit.code_bytes > 0
    return unit


@pytest.mark.skipif(not NVCC, reason="needs nvcc")
def test_device_code_of_cuda(project, tmp_path):
    flags = ("-std=c++17", "-arch=sm_90")
    unit = device_unit(
        project, tmp_path, *flags, compiler=NVCC, target="toy.cuda_hopper"
    )
    found = {number for _, number in unit.used}
    assert {2, 6} <= found and 4 not in found
    (code,) = unit.kernels
    assert code.name == "_ZN6league6kernelEiPi" and code.facts["registers"] >= 4
    assert code.facts["spilled bytes"] == code.facts["shared bytes"] == 0
    if disassembler(NVCC, "cuda"):
        assert code.instructions["global stores"] == 1
    else:
        assert code.instructions == {}


@pytest.mark.skipif(not CLANG, reason="needs clang++-19")
def test_device_code_of_hip(project, tmp_path):
    (project / "hip.h").write_text(HIP)
    flags = "-std=c++17 -O1 -x hip --offload-arch=gfx90a -nogpulib -nogpuinc -include"
    unit = device_unit(
        project,
        tmp_path,
        *flags.split(),
        f"{project}/hip.h",
        compiler=CLANG,
        target="toy.hip",
    )
    found = {number for _, number in unit.used}
    assert {2, 6} <= found and 4 not in found
    (code,) = unit.kernels
    assert code.name == "_ZN6league6kernelEiPi" and code.facts["VGPRs"] >= 2
    assert code.facts["spilled VGPRs"] == code.facts["shared bytes"] == 0
    if disassembler(CLANG, "hip"):
        assert code.instructions["global stores"] == 1
