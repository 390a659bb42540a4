# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests of an algorithm, run with one change of an oracle switched on (tests/mutate/__main__.py)."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "build/openmp"
FOLDER = ROOT / "build/mutants"
SOURCE, OBJECTS, TESTS = FOLDER / "source", FOLDER / "objects", FOLDER / "league_tests"
STAGES_S = (0.3, 3.0, math.inf)  # tests up to that long are tried together
#: Whose tests try the oracle that several algorithms share: its own, and theirs.
SHARED = {"oracle": ("least_squares", "linear_regression", "polynomial_fit")}


def run(*command: str | Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def selection(algorithm: str) -> str:
    """The filter of an algorithm's tests: how far its bounds go, and those in its files, "logistic_parts" too."""
    found = []
    for name in SHARED.get(algorithm, (algorithm,)):
        found.append(f"All/Bounds.AreWhatTheyWere/{name}")
        for file in (SOURCE / "tests/algorithms").glob(
            f"test_{name.split('_')[0]}*.cpp"
        ):
            suites = re.findall(
                r"^TEST(?:_F|_P)?\((\w+)", file.read_text(), re.MULTILINE
            )
            found += [f"{suite}.*:*/{suite}.*" for suite in set(suites)]
    return ":".join(sorted(set(found)))


def fails(
    mutant: int,
    selected: str,
    *more: str,
    patience_s: float | None = None,
    **variables: str,
) -> bool:
    """Whether one of these tests fails, or never ends, with a change switched on; 0: with none."""
    command = [
        TESTS,
        f"--gtest_filter={selected}",
        "--gtest_brief=1",
        "--gtest_break_on_failure",
        *more,
    ]
    environment = os.environ | {
        "LEAGUE_MUTANT": str(mutant),
        "OMP_WAIT_POLICY": "passive",
        "LD_LIBRARY_PATH": str(BUILT),
    }
    try:
        done = run(*command, cwd=ROOT, env=environment | variables, timeout=patience_s)
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def times_of(algorithm: str, jobs: int) -> dict[str, float]:
    """How long each of its tests takes without a change, in so many processes."""

    def passes(shard: int) -> bool:
        return not fails(
            0,
            selection(algorithm),
            f"--gtest_output=json:{FOLDER}/took-{algorithm}-{shard}.json",
            GTEST_TOTAL_SHARDS=str(jobs),
            GTEST_SHARD_INDEX=str(shard),
        )

    with ThreadPoolExecutor(jobs) as pool:
        if not all(pool.map(passes, range(jobs))):
            sys.exit(f"tests/mutate/run: tests of {algorithm} fail without a change")
    return {
        f"{suite['name']}.{test['name']}": float(test["time"].rstrip("s"))
        for shard in range(jobs)
        for suite in json.loads(
            (FOLDER / f"took-{algorithm}-{shard}.json").read_text()
        )["testsuites"]
        for test in suite["testsuite"]
        if test["result"] == "COMPLETED"
    }


class Tests:
    """Those of one algorithm: how far its bounds go, and its own, the quick ones first."""

    def __init__(self, algorithm: str, jobs: int) -> None:
        times = times_of(algorithm, jobs)
        self.stages = []
        for begin, end in pairwise((-1.0, *STAGES_S)):
            some = [name for name, took in times.items() if begin < took <= end]
            if some:
                took = sum(times[name] for name in some)
                self.stages.append((":".join(some), 60 + 20 * took))
        total = sum(times.values())
        print(f"{algorithm}: {len(times)} tests, {total:.0f} s", flush=True)

    def find(self, mutant: int) -> bool:
        return any(fails(mutant, some, patience_s=limit) for some, limit in self.stages)
