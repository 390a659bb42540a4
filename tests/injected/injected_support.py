# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs of a small study in which something fails, and what holds of each of them."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("LEAGUE_BUILD", "build/openmp")
LAYER = BUILD / "libleague_failing.so"
NIGHTLY = "LEAGUE_NIGHTLY" in os.environ
TRIES = int(os.environ.get("LEAGUE_INJECTED", "20"))
PATIENCE_S = 300


def play(folder, study, *options, program="league", **variables):
    """A study, run in a folder; what fails is in `variables`."""
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(study)
    environment = os.environ | {"LD_PRELOAD": str(LAYER), "OMP_WAIT_POLICY": "passive"}
    return subprocess.run(
        [BUILD / program, "run", "study.toml", "--records", "records", *options],
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PATIENCE_S,
        check=False,
    )


def rows_in(folder):
    """The rows of all records; each record is whole."""
    files = [
        path for path in (folder / "records").glob("*.json") if path.name != "run.json"
    ]
    return [row for path in files for row in json.loads(path.read_text())["benchmarks"]]


def check(folder, done, cases, what):
    """What holds of a run of so many cases whatever has failed in it."""
    assert done.returncode in (0, 1, 2), (
        f"{what}: ended with {done.returncode}: {done.stderr}"
    )
    rows = rows_in(folder)
    assert all(row["status"] == "passed" or row["reason"] for row in rows), what
    failed = any(row["status"] == "failed" for row in rows)
    if done.returncode == 0:
        lines = done.stdout.splitlines()
        assert len(rows) == cases == len(lines) and not failed, f"{what}: {done.stdout}"
    else:
        said = done.stderr.splitlines()[-1:]  # by `league`, libgomp or Google Benchmark
        assert failed or (said and not said[0].startswith("[")), f"{what}: {said}"
    left = list((folder / "records").glob(".*.league-part"))
    assert not left, f"{what}: {left}"


def calls_of(folder, study, cases, *options, **how):
    """The calls of a run in which nothing fails: (kind, number, stack) of each call stack, and how many of each kind."""
    done = play(folder, study, *options, LEAGUE_CALLS=str(folder / "calls"), **how)
    assert done.returncode == 0, done.stderr
    check(folder, done, cases, "nothing")
    return calls_in(folder)


def calls_in(folder):
    """The same of a run with LEAGUE_CALLS=FOLDER/calls."""
    lines = [line.split() for line in (folder / "calls").read_text().splitlines()]
    totals = {kind: int(count) for word, kind, count in lines if word == "total"}
    return [line for line in lines if line[0] != "total"], totals
