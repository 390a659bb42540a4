# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of OpenMP, allocators, libraries and the system that change times: said, recorded, never mixed."""

import json
import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.bench.study_run import BOUND, is_built, league, not_mixed, preflight_of

pytestmark = is_built
PROCESSORS = len(os.sched_getaffinity(0))
needs_two = pytest.mark.skipif(PROCESSORS < 2, reason="one processor only")
LLVM = next(iter(sorted(Path("/usr/lib").glob("llvm-*/lib/libomp.so"))), None)


@needs_two
@pytest.mark.parametrize("name", ["OMP_THREAD_LIMIT", "OMP_MAX_ACTIVE_LEVELS"])
def test_fewer_threads_than_processors(tmp_path, name):
    """One thread by a limit, and none of it in the number that was asked for."""
    value = "1" if name == "OMP_THREAD_LIMIT" else "0"
    said = preflight_of(league(tmp_path, variables={**BOUND, name: value}), tmp_path)
    assert f"1 of {PROCESSORS} possible threads: unset OMP_THREAD_LIMIT" in said
    assert not_mixed(tmp_path, variables={**BOUND, "OMP_NUM_THREADS": "1"})


@needs_two
def test_fewer_threads_as_asked_are_no_fault(tmp_path):
    one = {**BOUND, "OMP_NUM_THREADS": "1"}
    assert "unset OMP_" not in preflight_of(league(tmp_path, variables=one), tmp_path)


@needs_two
@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler of C")
def test_as_many_threads_on_a_busy_machine(tmp_path):
    """OMP_DYNAMIC takes a thread away for each process that runs: here for 999."""
    busy = tmp_path / "busy.so"
    source = "int getloadavg(double* l, int n) { for (int i = 0; i < n; ++i) l[i] = 999; return n; }"
    command = ["cc", "-shared", "-fPIC", "-xc", "-", "-o", busy]
    subprocess.run(command, input=source, text=True, check=True)
    said = preflight_of(
        league(tmp_path, variables={"OMP_DYNAMIC": "true", "LD_PRELOAD": str(busy)}),
        tmp_path,
    )
    assert f"machine is busy: load 999. on {PROCESSORS} threads" in said


def test_a_number_of_threads_that_is_none(tmp_path):
    done = league(tmp_path, variables={**BOUND, "OMP_NUM_THREADS": "all"})
    assert "OMP_NUM_THREADS=all is no number of threads" in preflight_of(done, tmp_path)


def test_stacks_that_kernels_overflow_are_refused(tmp_path):
    done = league(tmp_path, variables={"OMP_STACKSIZE": "16k"})
    assert done.returncode == 2
    assert "OMP_STACKSIZE=16k leaves threads a stack of 16 KiB" in done.stderr

    def small():
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 16, resource.RLIM_INFINITY))

    done = league(tmp_path, enter=small)
    assert done.returncode == 2 and "ulimit -s leaves the main thread" in done.stderr
    for enough in ("4m", " 512 ", "300000B"):
        done = league(tmp_path, variables={"OMP_STACKSIZE": enough})
        assert done.returncode == 0, done.stderr


@needs_two
def test_threads_that_the_system_refuses(tmp_path):
    done = league(tmp_path, variables={"OMP_STACKSIZE": "1000G"})
    assert done.returncode == 2, done.stderr
    assert f"OpenMP cannot start its {PROCESSORS} threads" in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("OMP_WAIT_POLICY", "passive", "threads sleep between kernels"),
        ("GOMP_SPINCOUNT", "0", "threads sleep between kernels"),
        ("MALLOC_PERTURB_", "85", "each allocation is"),
        ("GLIBC_TUNABLES", "glibc.malloc.perturb=85", "each allocation is"),
        ("DNNL_MAX_CPU_ISA", "SSE41", "libraries use fewer instructions"),
        ("ONEDNN_VERBOSE", "1", "prints a line for each of its kernels"),
        ("ONEDNN_DEFAULT_FPMATH_MODE", "BF16", "in fewer bits"),
    ],
)
def test_variables_that_change_times(tmp_path, name, value, what):
    done = league(tmp_path, variables={**BOUND, name: value})
    said = preflight_of(done, tmp_path)
    assert f"{name}={value}: " in said and what in said
    assert not_mixed(tmp_path, variables=BOUND)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OMP_WAIT_POLICY", "ACTIVE"),
        ("MALLOC_PERTURB_", "0"),
        ("DNNL_MAX_CPU_ISA", "ALL"),
        ("ONEDNN_DEFAULT_FPMATH_MODE", "STRICT"),
    ],
)
def test_values_that_change_nothing(tmp_path, name, value):
    done = league(tmp_path, variables={**BOUND, name: value})
    assert name not in preflight_of(done, tmp_path)


@pytest.mark.skipif(LLVM is None, reason="no OpenMP library of LLVM")
def test_an_openmp_library_of_another_compiler(tmp_path):
    """As environments of conda have it: libgomp.so.1 is a link to libomp.so."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/libgomp.so.1").symlink_to(LLVM)
    other = {**BOUND, "LD_LIBRARY_PATH": str(tmp_path / "lib")}
    said = preflight_of(league(tmp_path, variables=other), tmp_path)
    assert f"OpenMP is that of LLVM ({LLVM.resolve()})" in said
    assert not_mixed(tmp_path, "the devices are others", variables=BOUND)


def test_a_low_priority(tmp_path):
    done = league(tmp_path, variables=BOUND, enter=lambda: os.nice(5))
    assert "the niceness is 5: other processes" in preflight_of(done, tmp_path)
    assert not_mixed(tmp_path, variables=BOUND)


def test_a_policy_of_the_scheduler(tmp_path):
    def enter():
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))

    done = league(tmp_path, variables=BOUND, enter=enter)
    assert "policy is SCHED_BATCH" in preflight_of(done, tmp_path)


def test_a_limit_of_processor_time(tmp_path):
    def enter():
        resource.setrlimit(resource.RLIMIT_CPU, (777, 777))

    done = league(tmp_path, variables=BOUND, enter=enter)
    assert "after 777 s of processor time" in preflight_of(done, tmp_path)


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_a_tracer(tmp_path):
    words = ["strace", "-f", "-qq", "-o", tmp_path / "trace"]
    done = league(tmp_path, variables=BOUND, before=words)
    assert "a debugger or tracer is attached" in preflight_of(done, tmp_path)


def test_closed_streams_are_no_files(tmp_path):
    """What is printed is lost, and is in no file of the run."""

    def close():
        for stream in (0, 1, 2):
            os.close(stream)

    done = league(tmp_path, enter=close, capture_output=False)
    assert done.returncode == 0
    names = {path.name[:4] for path in (tmp_path / "records").iterdir()}
    assert names == {"run.", "000-"}


@pytest.mark.parametrize(
    "variable",
    [
        "BENCHMARK_MIN_WARMUP_TIME=3600",
        "BENCHMARK_DISPLAY_AGGREGATES_ONLY=true",
        "BENCHMARK_REPORT_AGGREGATES_ONLY=true",
        "BENCHMARK_DRY_RUN=true",
        "BENCHMARK_OUT=here.json",
    ],
)
def test_settings_of_google_benchmark_do_not_count(tmp_path, variable):
    """All samples are drawn and recorded, and nothing else is written."""
    settings = dict([variable.split("=")])
    done = league(tmp_path, variables={**BOUND, **settings}, timeout=60, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (record,) = tmp_path.glob("records/0*.json")
    (row,) = json.loads(record.read_text())["benchmarks"]
    assert row["status"] == "passed" and len(row["samples"]) == 3
    assert not (tmp_path / "here.json").exists()


def test_a_study_from_a_pipe(tmp_path):
    """As <(...) of a shell."""
    reading, writing = os.pipe()
    os.write(writing, b'algorithm = "vector_add"\nsizes = 1000\n')
    os.close(writing)
    done = league(tmp_path, "--dry-run", study=f"/dev/fd/{reading}", pass_fds=[reading])
    os.close(reading)
    assert done.returncode == 0 and "n:1000" in done.stdout, done.stderr
