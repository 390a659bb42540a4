# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of CUDA's run-time library that fail, League's own and Kokkos', and a kernel that writes where it may not, one in
each run of a small study on a GPU (cuda_calls.cu).

LEAGUE_BUILD: the build folder (build/cuda). LEAGUE_CUDA_STACKS: at most so many call stacks, drawn among all; 0: all.
"""

import json
import os
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from injected_support import (
    BUILD,
    LAYER,
    TRIES,
    calls_in,
    calls_of,
    check,
    play,
    rows_in,
)

STACKS = int(os.environ.get("LEAGUE_CUDA_STACKS", "100"))
STUDY = """
samples = 2
null = false

[[cases]]
algorithm = "vector_add"
methods = "plain"
models = ["serial", "cuda", "kokkos"]
sizes = [64, 1000]

[[cases]]
algorithm = "sum"
methods = "two_stage"
models = ["serial", "cuda", "kokkos"]
sizes = 3000
"""
CASES = 9


def has_gpu():
    try:
        asked = ["nvidia-smi", "-L"]
        return not subprocess.run(asked, check=False, capture_output=True).returncode
    except FileNotFoundError:
        return False


pytestmark = [
    pytest.mark.skipif(not has_gpu(), reason="no NVIDIA GPU answers"),
    pytest.mark.skipif(not LAYER.exists(), reason=f"no {LAYER.name}"),
]


def run(folder, **variables):
    return play(folder, STUDY, program="league_faults", **variables)


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    folder = tmp_path_factory.mktemp("calls")
    found, totals = calls_of(folder, STUDY, CASES, program="league_faults")
    assert totals["cuda"] > 0, (
        f"{BUILD}: nothing of CUDA is called through cuda_calls.cu"
    )
    return found, totals


def check_hosts(folder, what):
    """What needs no GPU is measured all the same, unless pinned memory for its inputs is what failed."""
    for row in rows_in(folder):
        if row["model"] == "serial" and row["status"] != "passed":
            said = row["reason"].lower()
            assert "cuda" in said or "memory" in said, f"{what}: {said}"


def test_calls_that_fail_once_for_each_stack(calls, tmp_path):
    stacks = [stack for kind, _, stack in calls[0] if kind == "cuda"]
    drawn = random.Random(1).sample(stacks, min(STACKS or len(stacks), len(stacks)))
    print(f"{len(drawn)} of {len(stacks)} call stacks of {calls[1]['cuda']} calls")

    def fail_at(stack):
        folder = tmp_path / stack
        done = run(folder, LEAGUE_FAIL=f"cuda@{stack}")
        check(folder, done, CASES, f"cuda@{stack}")
        check_hosts(folder, f"cuda@{stack}")

    with ThreadPoolExecutor(max(1, len(os.sched_getaffinity(0)) // 4)) as pool:
        list(pool.map(fail_at, drawn))  # raises what the first of them raised


def test_calls_that_fail_from_some_on(calls, tmp_path):
    for number in random.Random(2).sample(range(1, calls[1]["cuda"]), min(TRIES, 10)):
        folder = tmp_path / str(number)
        done = run(folder, LEAGUE_FAIL=f"cuda:{number}+")
        check(folder, done, CASES, f"cuda:{number}+")
        check_hosts(folder, f"cuda:{number}+")


def test_a_kernel_that_writes_where_it_may_not(calls, tmp_path):
    launches = calls[1]["illegal"]
    assert launches > 0
    planted = 0
    for number in random.Random(3).sample(range(1, launches), min(TRIES, 10)):
        folder = tmp_path / str(number)
        log = str(folder / "calls")
        done = run(folder, LEAGUE_FAIL=f"illegal:{number}", LEAGUE_CALLS=log)
        check(folder, done, CASES, f"illegal:{number}")
        # A run launches as many kernels as it has time for; after an illegal write it may end without its totals.
        reached = calls_in(folder)[1].get("illegal", number) >= number
        planted += reached
        assert done.returncode == int(reached), f"illegal:{number}: {done.stderr}"
        check_hosts(folder, f"illegal:{number}")
    assert planted > 0


def test_peer_access_that_is_reported_and_does_not_work(tmp_path):
    command = [BUILD / "league_faults", "list", "--json"]
    listed = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    if sum(device["kind"] == "gpu" for device in listed["devices"]) < 2:
        pytest.skip("one GPU only")
    done = run(tmp_path, LEAGUE_FAIL="peers:1+")
    assert "does not arrive, though the driver reports access" in done.stderr
