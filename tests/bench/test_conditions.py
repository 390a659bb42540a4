# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What disturbs a run is said before it, recorded, and never mixed by --resume; what ends one is refused."""

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.bench.study_run import (
    BOUND,
    LEAGUE,
    is_built,
    league,
    not_mixed,
    preflight_of,
)

pytestmark = is_built
TOOL = "void kokkosp_begin_parallel_for(const char*, unsigned, unsigned long*) {}\n"


needs_two = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one processor only"
)
FIRST = str(min(os.sched_getaffinity(0)))


@needs_two
@pytest.mark.parametrize(
    "variables",
    [
        {"GOMP_CPU_AFFINITY": FIRST},
        {"OMP_PROC_BIND": "master"},
        {"OMP_PLACES": f"{{{FIRST}}}"},
    ],
)
def test_all_threads_on_one_core(tmp_path, variables):
    """They are as many as without the variable."""
    said = preflight_of(league(tmp_path, variables=variables), tmp_path)
    assert "threads on 1 core, on which they take turns" in said
    assert "threads may move" not in said
    assert not_mixed(tmp_path, variables=BOUND)


def test_more_threads_than_cores(tmp_path):
    cores = len(os.sched_getaffinity(0))
    threads = {"OMP_NUM_THREADS": str(cores + 2)}
    said = preflight_of(league(tmp_path, variables=threads), tmp_path)
    assert f"{cores + 2} threads on {cores} core" in said


@needs_two
def test_fewer_cores_later(tmp_path):
    few = {"OMP_NUM_THREADS": "1"}
    assert "take turns" not in preflight_of(league(tmp_path, variables=few), tmp_path)
    assert not_mixed(
        tmp_path, variables=few, enter=lambda: os.sched_setaffinity(0, {int(FIRST)})
    )


@pytest.mark.parametrize(
    ("binding", "moves"), [({"OMP_PROC_BIND": "false"}, True), (BOUND, False)]
)
def test_threads_that_may_move(tmp_path, binding, moves):
    said = preflight_of(league(tmp_path, variables=binding), tmp_path)
    assert ("threads may move between cores" in said) == moves


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler of C")
@pytest.mark.parametrize("name", ["KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY"])
def test_a_tool_of_kokkos(tmp_path, name):
    tool = tmp_path / "tool.so"
    command = ["cc", "-shared", "-fPIC", "-xc", "-", "-o", tool]
    subprocess.run(command, input=TOOL, text=True, check=True)
    said = preflight_of(
        league(tmp_path, variables={**BOUND, name: str(tool)}), tmp_path
    )
    assert f"{name}={tool}: Kokkos calls this tool" in said
    assert not_mixed(tmp_path, variables=BOUND)


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("CUDA_LAUNCH_BLOCKING", "1", "the host waits for each kernel"),
        ("CUDA_VISIBLE_DEVICES", "", "it is empty, and hides all GPUs"),
        ("CUDA_VISIBLE_DEVICES", "0,0", "it names '0' twice"),
    ],
)
def test_variables_of_gpus(tmp_path, name, value, what):
    done = league(tmp_path, variables={**BOUND, name: value})
    assert f"{name}={value}: {what}" in preflight_of(done, tmp_path)
    assert not_mixed(tmp_path, variables=BOUND)


def test_compilers_of_peers_that_are_switched_off(tmp_path):
    off = {"NUMBA_DISABLE_JIT": "1", "TRITON_INTERPRET": "1"}
    said = preflight_of(league(tmp_path, variables={**BOUND, **off}), tmp_path)
    assert "NUMBA_DISABLE_JIT=1 TRITON_INTERPRET=1: ignored" in said


@pytest.fixture
def group():
    """A control group with half a processor."""
    for base, file, quota in (
        ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "50000"),
        ("/sys/fs/cgroup", "cpu.max", "50000 100000"),
    ):
        folder = Path(base) / f"league-test-{os.getpid()}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            if (folder / file).exists():
                (folder / file).write_text(quota)
                yield folder
                folder.rmdir()
                return
            folder.rmdir()
    pytest.skip("control groups cannot be made here")


def test_a_quota(tmp_path, group):
    def enter():
        (group / "cgroup.procs").write_text(str(os.getpid()))

    said = preflight_of(league(tmp_path, variables=BOUND, enter=enter), tmp_path)
    assert "a quota of 0.50 processors" in said
    assert not_mixed(tmp_path, variables=BOUND)


def test_more_threads_than_can_be_started_are_refused(tmp_path):
    done = league(tmp_path, variables={"OMP_NUM_THREADS": "99999"})
    assert done.returncode == 2
    assert "OMP_NUM_THREADS asks for 99999 threads" in done.stderr
    limited = {"OMP_NUM_THREADS": "99999", "OMP_THREAD_LIMIT": "2"}
    assert league(tmp_path, variables=limited).returncode == 0


@pytest.mark.skipif(
    not (LEAGUE.parent / "libleague_mpi.so").exists(), reason="a build without MPI"
)
def test_a_launcher_of_another_mpi_is_refused(tmp_path):
    done = league(tmp_path, variables={"PMI_SIZE": "4", "PMI_RANK": "1"})
    assert done.returncode == 2
    assert "PMI_SIZE=4 says that a launcher started 4 ranks" in done.stderr


@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="no qemu-x86_64")
def test_an_older_processor_is_told():
    """A processor of 2008, as an emulator has it."""
    done = subprocess.run(
        ["qemu-x86_64", "-cpu", "Nehalem", LEAGUE, "list"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 2, done
    assert "lacks an instruction that this executable was built for" in done.stderr


def test_where_nothing_can_be_written_is_known_before(tmp_path):
    for file, why in (
        (tmp_path, "it is a folder"),
        (tmp_path / "none/out.json", f"there is no folder '{tmp_path}/none'"),
    ):
        done = league(tmp_path, f"--benchmark_out={file}")
        assert done.returncode == 2 and why in done.stderr
        assert not (tmp_path / "records").exists()


def test_a_launch_of_nothing_is_refused(tmp_path):
    done = league(tmp_path, "--set", "launches={team=0}")
    assert done.returncode == 2 and "`launches.team` is 0" in done.stderr


def test_no_escape_of_a_study_reaches_the_terminal(tmp_path):
    done = league(tmp_path, "--set", 'models="ser\\u001b[31mial\\u009b"')
    assert done.returncode == 2 and "'ser\\u001B[31mial\\u009B'" in done.stderr
