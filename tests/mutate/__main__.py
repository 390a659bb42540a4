# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the oracle of each algorithm wrong, in one place at a time, and runs the algorithm's tests: something must fail.

What is changed (points.py): a term of a sum is left out, a bound is ten times as large. All changes are built into one
copy of the project, in build/mutants, where LEAGUE_MUTANT switches one on. Prints the share of the changes that were
found, and those that were not.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import points

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build/mutants"
SOURCE, BUILD = FOLDER / "source", FOLDER / "build"
LEAST = 0.9
#: What is built: no tests but those of algorithms.
KEPT = re.compile(
    r"(CMake\w+\.\w+|(backends|algorithms|bench|configs)/.*|tests/(algorithms/.*|data/bounds.json|tests\.cmake|\w+\.[ch]pp|bench/temporary\.\w+))$"
)
LEFT_OUT = re.compile(r"tests/test_\w+\.cpp$")


def run(*command: str | Path, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def require(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode:
        sys.exit(
            f"tests/mutate/run: {' '.join(done.args)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        )
    return done.stdout


def copy() -> None:
    """The project's files, as far as they are needed; those that are as they were keep their times."""
    names = require(
        run("git", "ls-files", "-coz", "--exclude-standard", cwd=ROOT)
    ).split("\0")
    shutil.rmtree(SOURCE, ignore_errors=True)
    for name in names:
        if (
            KEPT.fullmatch(name)
            and not LEFT_OUT.fullmatch(name)
            and (ROOT / name).is_file()
        ):
            (SOURCE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, SOURCE / name)


def configure() -> None:
    off = [f"-DLEAGUE_{model}=OFF" for model in ("KOKKOS", "MPI", "ONEDNN")]
    cmake = ROOT / "build/venv/bin/cmake"
    require(
        run(
            cmake,
            "-G",
            "Ninja",
            "-B",
            BUILD,
            "-DCMAKE_BUILD_TYPE=Release",
            *off,
            SOURCE,
        )
    )


def build() -> None:
    require(
        run(ROOT / "build/venv/bin/cmake", "--build", BUILD, "--target", "league_tests")
    )


def suites(algorithm: str) -> list[str]:
    """The test suites in the algorithm's own test files; of `oracle`, those of the files about oracles."""
    files = sorted((SOURCE / "tests/algorithms").glob(f"test_{algorithm}*.cpp"))
    if algorithm == "oracle":
        files = sorted((SOURCE / "tests/algorithms").glob("test_*.cpp"))
    texts = "".join(file.read_text() for file in files)
    return sorted(set(re.findall(r"^TEST(?:_F|_P)?\((\w+)", texts, re.MULTILINE)))


def fails(mutant: int, selected: str, patience_s: float | None = None) -> bool:
    """Whether one of these tests fails, or never ends, with a change switched on; 0: with none."""
    command = [
        BUILD / "league_tests",
        f"--gtest_filter={selected}",
        "--gtest_brief=1",
        "--gtest_break_on_failure",
    ]
    variables = os.environ | {
        "LEAGUE_MUTANT": str(mutant),
        "OMP_WAIT_POLICY": "passive",
    }
    try:
        return (
            run(*command, cwd=SOURCE, env=variables, timeout=patience_s).returncode != 0
        )
    except subprocess.TimeoutExpired:
        return True


class Tests:
    """Those of one algorithm: first how far its bounds go, then its own."""

    def __init__(self, algorithm: str) -> None:
        bounds = "All/Bounds.AreWhatTheyWere/" + (
            "*" if algorithm == "oracle" else algorithm
        )
        own = ":".join(
            f"{suite}.*:*/{suite}.*" for suite in suites(algorithm) if suite != "Bounds"
        )
        self.stages = []
        for selected in filter(None, (bounds, own)):
            begin = time.monotonic()
            if fails(0, selected):
                sys.exit(f"tests/mutate/run: {selected} fails without a change")
            self.stages.append((selected, 10 + 10 * (time.monotonic() - begin)))

    def find(self, mutant: int) -> bool:
        return any(
            fails(mutant, selected, patience_s) for selected, patience_s in self.stages
        )


def shown(point: points.Point) -> str:
    """Its place and text."""
    data = (ROOT / point.file).read_bytes()
    line = 1 + data.count(b"\n", 0, point.begin)
    text = " ".join(data[point.begin : point.end].decode().split())
    return f"{point.file}:{line}: {point.kind} `{text}`"


def main() -> int:
    parser = argparse.ArgumentParser(
        "tests/mutate/run", description=__doc__.splitlines()[0]
    )
    parser.add_argument("algorithms", nargs="*", metavar="ALGORITHM")
    parser.add_argument("--jobs", type=int, default=1, help="changes at once")
    parser.add_argument("--list", action="store_true", help="the changes only")
    options = parser.parse_args()
    copy()
    configure()
    found = points.all_points(SOURCE)
    there = sorted({point.algorithm for point in found})
    if unknown := set(options.algorithms) - set(there):
        parser.error(
            f"no oracle of {', '.join(sorted(unknown))}: there are {', '.join(there)}"
        )
    wanted = options.algorithms or there
    if options.list:
        print("\n".join(shown(point) for point in found if point.algorithm in wanted))
        return 0
    points.rewrite(SOURCE, found)
    build()
    total, caught, missed = Counter(), Counter(), []
    for algorithm in wanted:
        tests = Tests(algorithm)
        some = [
            (number, point)
            for number, point in enumerate(found, 1)
            if point.algorithm == algorithm
        ]
        with ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(tests.find, [number for number, _ in some]))
        for (_, point), outcome in zip(some, outcomes, strict=True):
            total[point.kind, algorithm] += 1
            caught[point.kind, algorithm] += outcome
            if not outcome:
                missed.append(shown(point))
        kinds = [
            f"{caught[kind, algorithm]} of {total[kind, algorithm]} {kind}s"
            for kind in ("term", "bound")
        ]
        print(f"{algorithm:20} {', '.join(kinds)} found", flush=True)
    print("\n".join(["not found:", *missed]) if missed else "all found")
    score = caught.total() / max(1, total.total())
    print(
        f"{caught.total()} of {total.total()} changes were found: {100 * score:.1f} %"
    )
    (FOLDER / "score.json").write_text(
        json.dumps(
            {"changes": total.total(), "found": caught.total(), "missed": missed},
            indent=1,
        )
    )
    return 0 if score >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
