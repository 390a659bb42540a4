# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of the system that fail, one in each run of a small study: no crash, no success with something missing, and
records that are whole.

LEAGUE_INJECTED: how many allocations are made to fail, and how many runs are killed; other calls fail once for each call
stack. LEAGUE_NIGHTLY: at every call of a kind where else a few are drawn.
"""

import random
import subprocess
import sys
from contextlib import suppress

import pytest
from injected_support import (
    BUILD,
    LAYER,
    NIGHTLY,
    ROOT,
    TRIES,
    calls_of,
    check,
    play,
    rows_in,
)

STUDY = """
samples = 1
null = false
models = ["serial", "kokkos"]
methods = "plain"
algorithm = "vector_add"
sizes = [64, 1000]
"""
CASES = 4
PEER_STUDY = STUDY.replace('"kokkos"', '"numpy"').replace(
    '"plain"', '["plain", "library"]'
)
PEER_CASES = 4
FEW = 10  # of the calls of a kind, where they are not tried all

pytestmark = pytest.mark.skipif(not LAYER.exists(), reason=f"no {LAYER.name}")


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """The call stacks of a run, and the number of calls of each kind."""
    return calls_of(tmp_path_factory.mktemp("calls"), STUDY, CASES)


def some(numbers, few=FEW):
    """All of them at night, else a few."""
    numbers = list(numbers)
    return (
        numbers if NIGHTLY else random.Random(1).sample(numbers, min(few, len(numbers)))
    )


def test_calls_that_fail_once_for_each_stack(calls, tmp_path):
    others = [call for call in calls[0] if call[0] in ("write", "rename", "fsync")]
    assert {"write", "rename", "fsync"} == {call[0] for call in others}
    for kind, _, stack in others:
        folder = tmp_path / f"{kind}{stack}"
        done = play(folder, STUDY, LEAGUE_FAIL=f"{kind}@{stack}")
        check(folder, done, CASES, f"{kind}@{stack}")


def test_allocations_that_fail(calls, tmp_path):
    numbers = [int(number) for kind, number, _ in calls[0] if kind == "allocation"]
    rng = random.Random(1)
    for number in rng.sample(range(numbers[0], numbers[-1]), TRIES):
        folder = tmp_path / str(number)
        done = play(folder, STUDY, LEAGUE_FAIL=f"allocation:{number}")
        check(folder, done, CASES, f"allocation:{number}")


def test_a_disk_that_is_full_from_some_write_on(calls, tmp_path):
    for number in some(range(1, calls[1]["write"] + 1)):
        folder = tmp_path / str(number)
        done = play(folder, STUDY, LEAGUE_FAIL=f"write:{number}+")
        check(folder, done, CASES, f"write:{number}+")
        assert done.returncode != 0, f"write:{number}+: {done.stdout}"


def go_on(folder, what):
    """The rest of a run that was killed: its records are whole, and all cases are there in the end."""
    rows_in(folder)
    done = play(folder, STUDY, "--resume")
    assert done.returncode == 0, f"{what}: {done.stderr}"
    check(folder, done, CASES, what)


def test_runs_that_are_killed_where_they_write_go_on(calls, tmp_path):
    for kind in ("write", "fsync", "rename"):
        for number in some(range(1, calls[1][kind] + 1)):
            folder = tmp_path / f"{kind}{number}"
            done = play(folder, STUDY, LEAGUE_KILL=f"{kind}:{number}")
            assert done.returncode == -9
            go_on(folder, f"killed at {kind} {number}")


def test_runs_that_are_killed_go_on(tmp_path):
    command = [BUILD / "league", "run", "study.toml", "--records", "records"]
    rng = random.Random(1)
    for number in range(TRIES):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "study.toml").write_text(STUDY)
        run = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        with suppress(subprocess.TimeoutExpired):
            run.wait(rng.uniform(0, 0.5))
        run.kill()
        run.wait()
        go_on(folder, f"killed, number {number}")


def test_peers_that_cannot_be_started_or_heard(tmp_path):
    options = ("--python", sys.executable, "--peers", ROOT)
    found, _ = calls_of(tmp_path / "calls", PEER_STUDY, PEER_CASES, *options)
    for wanted in ("fork", "receive"):
        stacks = [stack for kind, _, stack in found if kind == wanted]
        assert stacks, wanted
        for stack in some(stacks, few=3):
            folder = tmp_path / f"{wanted}{stack}"
            failing = f"{wanted}@{stack}"
            done = play(folder, PEER_STUDY, *options, LEAGUE_FAIL=failing)
            check(folder, done, PEER_CASES, failing)
            passed = {r["model"] for r in rows_in(folder) if r["status"] == "passed"}
            assert done.returncode == 2 or "serial" in passed, f"{failing}: {passed}"


@pytest.mark.parametrize("clock", ["realtime", "monotonic"])
@pytest.mark.parametrize("seconds", [-3600, 3600])
def test_a_clock_that_jumps(calls, tmp_path, clock, seconds):
    last = calls[1][clock]
    assert last > 1, f"{clock} is read {last} times"
    for number in {1, last // 3, last // 2, last - 1, last}:
        folder, place = tmp_path / str(number), f"{clock}:{number}+"
        done = play(folder, STUDY, LEAGUE_FAIL=place, LEAGUE_JUMP=str(seconds))
        check(folder, done, CASES, place)
        times = [time for row in rows_in(folder) for time in row["samples"]]
        assert all(time > 0 for time in times), f"{place}: {times}"
        if clock == "realtime":  # nothing is timed with it
            assert done.returncode == 0 and max(times) < 10, f"{place}: {times}"
