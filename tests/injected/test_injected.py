# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of the system that fail, one in each run of a small study: no crash, no success with something missing, and
records that are whole.

LEAGUE_INJECTED: how many allocations are made to fail, and how many runs are killed; other calls fail once for each call
stack.
"""

import json
import os
import random
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/openmp"
LAYER = BUILD / "libleague_failing.so"
TRIES = int(os.environ.get("LEAGUE_INJECTED", "20"))
STUDY = """
samples = 1
null = false
models = ["serial", "kokkos"]
methods = "plain"
algorithm = "vector_add"
sizes = [64, 1000]
"""
CASES = 4
PATIENCE_S = 300

pytestmark = pytest.mark.skipif(not LAYER.exists(), reason=f"no {LAYER.name}")


def play(folder, *options, **variables):
    """The study, run in a folder; what fails is in `variables`."""
    (folder / "study.toml").write_text(STUDY)
    environment = os.environ | {"LD_PRELOAD": str(LAYER), "OMP_WAIT_POLICY": "passive"}
    return subprocess.run(
        [BUILD / "league", "run", "study.toml", *options],
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.fixture(scope="module")
def calls(tmp_path_factory):
    """The calls of a run: a line for each call stack, of its kind, number and stack."""
    folder = tmp_path_factory.mktemp("calls")
    done = play(folder, LEAGUE_CALLS=str(folder / "calls"))
    assert done.returncode == 0, done.stderr
    check(folder, done, "nothing")
    return [line.split() for line in (folder / "calls").read_text().splitlines()]


def check(folder, done, what):
    """What holds of a run whatever has failed in it."""
    assert done.returncode in (0, 1, 2), (
        f"{what}: ended with {done.returncode}: {done.stderr}"
    )
    files = [
        path for path in (folder / "records").glob("*.json") if path.name != "run.json"
    ]
    rows = [row for path in files for row in json.loads(path.read_text())["benchmarks"]]
    assert all(row["status"] == "passed" or row["reason"] for row in rows), what
    failed = any(row["status"] == "failed" for row in rows)
    if done.returncode == 0:
        lines = done.stdout.splitlines()
        assert len(rows) == CASES == len(lines) and not failed, f"{what}: {done.stdout}"
    else:
        said = done.stderr.splitlines()[-1:]  # by `league`, libgomp or Google Benchmark
        assert failed or (said and not said[0].startswith("[")), f"{what}: {said}"
    left = list((folder / "records").glob(".*.league-part"))
    assert not left, f"{what}: {left}"


def test_calls_that_fail_once_for_each_stack(calls, tmp_path):
    others = [call for call in calls if call[0] != "allocation"]
    assert {"write", "rename", "fsync"} <= {call[0] for call in others}
    for kind, _, stack in others:
        folder = tmp_path / f"{kind}{stack}"
        folder.mkdir()
        check(folder, play(folder, LEAGUE_FAIL=f"{kind}@{stack}"), f"{kind}@{stack}")


def test_allocations_that_fail(calls, tmp_path):
    numbers = [int(number) for kind, number, _ in calls if kind == "allocation"]
    rng = random.Random(1)
    for number in rng.sample(range(numbers[0], numbers[-1]), TRIES):
        folder = tmp_path / str(number)
        folder.mkdir()
        check(
            folder,
            play(folder, LEAGUE_FAIL=f"allocation:{number}"),
            f"allocation:{number}",
        )


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
        for path in (folder / "records").glob("*.json"):
            json.loads(path.read_text())
        done = play(folder, "--resume")
        assert done.returncode == 0, done.stderr
        check(folder, done, f"killed, number {number}")
