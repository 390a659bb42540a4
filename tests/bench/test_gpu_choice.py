# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/run chooses the preset by the GPU that answers, and says so where one is left unused."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNUSED = "A GPU IS HERE AND IS NOT USED"
CMAKE = """#!/usr/bin/env bash
# stands for CMake: notes its words, and makes what a configured and built preset has
root=$(cd "$(dirname "$0")/../../.." && pwd)
echo "$*" >>"$root/calls"
[[ $1 == --preset ]] || exit 0
words=$*
mkdir -p "$root/build/$2" && cd "$root/build/$2" || exit 1
printf 'LEAGUE_CUDA_ARCH:STRING=native\\nLEAGUE_CUDA_CAPABILITY:INTERNAL=%s\\nLEAGUE_ALGORITHMS:STRING=%s\\n' \\
  "$(nvidia-smi 2>/dev/null | sort -V | tail -n 1)" "${words##*LEAGUE_ALGORITHMS=}" >CMakeCache.txt
touch build.ninja
printf '#!/bin/sh\\nexit 0\\n' >league && chmod +x league
"""


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Machine:
    """A project with stubs of setup and CMake, and the programs that a machine has."""

    def __init__(self, root):
        self.root, self.tools = root / "project", root / "tools"
        (self.root / "bench").mkdir(parents=True)
        shutil.copy(ROOT / "bench/run", self.root / "bench/run")
        script(self.root / "bench/setup", "#!/bin/sh\n")
        script(self.root / "build/venv/bin/cmake", CMAKE)
        script(
            self.root / "build/venv/bin/python",
            f'#!/bin/sh\nexec "{sys.executable}" "$@"\n',
        )
        shutil.copy(ROOT / "bench/needs.py", self.root / "bench/needs.py")
        for folder in ("knn", "sum/common", "sum/flat", "sum/two_stage"):
            (self.root / "algorithms" / folder).mkdir(parents=True)
        (self.root / "CMakePresets.json").write_text("")
        self.study("first", 'algorithm = "sum"\nmethods = "flat"\n')
        self.tools.mkdir()

    def tool(self, name, prints="", code=0):
        lines = "".join(f"echo '{line}'\n" for line in prints.splitlines())
        script(self.tools / name, f"#!/bin/sh\n{lines}exit {code}\n")
        return self

    def study(self, name, text):
        (self.root / "configs").mkdir(exist_ok=True)
        (self.root / f"configs/{name}.toml").write_text(text)

    def run(self, *options, shown=("--no-report",)):
        path = f"{self.tools}:/usr/bin:/bin"
        return subprocess.run(
            [self.root / "bench/run", "--no-peers", *shown, *options],
            cwd=self.tools,
            env={**os.environ, "PATH": path, "CUDA_PATH": "/nowhere"},
            check=False,
            capture_output=True,
            text=True,
        )

    def configured(self):
        return [call.split()[1] for call in self.configurations()]

    def configurations(self):
        calls = (self.root / "calls").read_text().splitlines()
        return [call for call in calls if call.startswith("--preset")]

    def parts(self):
        """What was configured, time after time."""
        return [
            call.rpartition("LEAGUE_ALGORITHMS=")[2] for call in self.configurations()
        ]


@pytest.fixture
def machine(tmp_path):
    if shutil.which("nvcc", path="/usr/bin:/bin"):
        pytest.skip("nvcc is where it cannot be hidden")
    return Machine(tmp_path)


@pytest.mark.parametrize("capability", ["7.5", "8.9", "9.0", "10.0", "12.0"])
def test_a_gpu_of_any_kind_is_built_for(machine, capability):
    machine.tool("nvcc").tool("nvidia-smi", capability)
    done = machine.run()
    assert done.returncode == 0, done.stderr
    assert machine.configured() == ["cuda"] and UNUSED not in done.stderr


@pytest.mark.parametrize("gfx", ["gfx90a", "gfx942"])
def test_an_amd_gpu_has_its_preset(machine, gfx):
    done = machine.tool("rocminfo", f"  Name: {gfx}").run()
    assert machine.configured() == [f"hip-{gfx}"] and UNUSED not in done.stderr


def test_no_gpu_is_nothing_to_tell(machine):
    said = "NVIDIA-SMI has failed because it could not communicate with the driver, 9.0"
    done = machine.tool("nvidia-smi", said, code=9).run()
    assert machine.configured() == ["openmp"] and UNUSED not in done.stderr


@pytest.mark.parametrize(
    ("tools", "options", "reason"),
    [
        ({"nvidia-smi": "9.0"}, [], "nvcc is missing"),
        ({"nvidia-smi": "6.1", "nvcc": ""}, [], "7.5 is the oldest"),
        ({"rocminfo": "gfx1100"}, [], "gfx90a and gfx942 only"),
        ({"nvidia-smi": "8.0", "nvcc": ""}, ["--preset", "openmp"], "asked for"),
    ],
)
def test_a_gpu_that_is_left_unused_is_told(machine, tools, options, reason):
    for name, prints in tools.items():
        machine.tool(name, prints)
    done = machine.run(*options)
    assert done.returncode == 0, done.stderr
    assert machine.configured() == ["openmp"]
    assert UNUSED in done.stderr and reason in done.stderr


def test_another_gpu_is_configured_for_anew(machine):
    machine.tool("nvcc").tool("nvidia-smi", "8.9").run()
    machine.run()
    assert machine.configured() == ["cuda"], "once"
    machine.tool("nvidia-smi", "8.9\n12.0").run()
    assert machine.configured() == ["cuda", "cuda"], "for the newest GPU"


def test_an_interpreter_that_cannot_report_is_told(machine):
    script(machine.root / "build/venv/bin/python", "#!/bin/sh\nexit 1\n")
    league = machine.tools / "league"
    script(league, '#!/bin/sh\nmkdir -p "$4" && echo "{}" >"$4/0.json"\n')
    done = machine.run("--no-build", f"--executable={league}", "--output=out", shown=())
    assert done.returncode == 1, done.stderr
    assert "lacks NumPy or msgspec" in done.stderr and "out" in done.stderr
