# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the oracle of each algorithm wrong, in one place at a time, and runs the algorithm's tests: something must fail.

What is changed (points.py): a term of a sum is left out, a bound is ten times as large. All changes are in one
executable, where LEAGUE_MUTANT switches one on: the league_tests of build/openmp, of which only those objects are
compiled and linked anew that see a changed file. build/mutation, configured only, tells how each file is compiled.
Prints the share of the changes that were found, and those that were not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

import points
from suites import BUILT, FOLDER, OBJECTS, ROOT, SOURCE, TESTS, Tests, run

COMMANDS = ROOT / "build/mutation/compile_commands.json"
POINTS = FOLDER / "points.json"
LEAST = 0.9
TOP = ("algorithms", "backends", "bench", "tests")


def require(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode:
        words = done.args if isinstance(done.args, str) else " ".join(done.args)
        sys.exit(
            f"tests/mutate/run: {words}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        )
    return done.stdout


def copy() -> None:
    """The sources, of which some are rewritten."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    for top in TOP:
        for file in (ROOT / top).rglob("*.[ch]pp"):
            to = SOURCE / file.relative_to(ROOT)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, to)


def ninja(*options: str) -> str:
    return require(run(ROOT / "build/venv/bin/ninja", "-C", BUILT, *options))


def seeing(files: set[str]) -> dict[str, set[str]]:
    """File -> the objects of the build that see it."""
    found, target = {file: set() for file in files}, ""
    for line in ninja("-t", "deps").splitlines():
        if line and not line[0].isspace():
            target = line.split(":")[0]
        elif line.strip():
            seen = os.path.relpath(os.path.join(BUILT, line.strip()), ROOT)
            if seen in found:
                found[seen].add(target)
    return found


def of_oracles(found: list[points.Point]) -> list[points.Point]:
    """Those in files that neither kernels nor tests see (what all share is no oracle), but no terms of bounds."""
    objects = seeing({point.file for point in found})
    own = {
        file
        for file, seen in objects.items()
        if all(
            ".problem.dir/" in one or "league_algorithms.dir/" in one for one in seen
        )
    }
    return [
        point
        for point in found
        if point.file in own
        and (point.kind == "bound" or not points.of_a_bound(ROOT, point))
    ]


def moved(text: str) -> str:
    """A compiler's command that sees the copy of the sources."""
    for top in TOP:  # relative or absolute, as CMake wrote it
        text = text.replace(f"{ROOT}/{top}/", f"{SOURCE}/{top}/")
    return re.sub(rf"-I{re.escape(str(ROOT))}(?=\s)", f"-I{SOURCE}", text)


def unity_moved(text: str, mutant: Path) -> str:
    """The command of an object of several files, for a list of the copies of these."""
    if found := re.search(r"(\S+/Unity/\S+\.cxx)(?=\s|$)", text):
        listed = (BUILT / found[1]).read_text(encoding="utf-8")
        mutant.with_suffix(".cxx").write_text(moved(listed), encoding="utf-8")
        text = text.replace(found[1], str(mutant.with_suffix(".cxx")))
    return text


def build(changed: set[str], jobs: int) -> None:
    """Compiles what sees a changed file, and links it with all other objects of league_tests."""
    commands = ninja("-t", "commands", "league_tests").splitlines()
    link = next(line for line in reversed(commands) if " -o league_tests " in line)
    affected = {one for some in seeing(changed).values() for one in some}
    compiled = []
    for line in commands:
        made = re.search(r" -o (\S+\.o) ", line)
        if made and made[1] in affected and f" {made[1]} " in link:
            mutant = OBJECTS / made[1]
            mutant.parent.mkdir(parents=True, exist_ok=True)
            text = moved(line).replace(f" -o {made[1]} ", f" -o {mutant} ")
            text = unity_moved(text, mutant)
            compiled.append(re.sub(r" -MF \S+", f" -MF {mutant}.d", text))
            link = link.replace(f" {made[1]} ", f" {mutant} ")
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda text: require(shell(text)), compiled))
    require(shell(link.replace(" -o league_tests ", f" -o {TESTS} ")))
    print(f"{len(compiled)} objects compiled", flush=True)


def shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, shell=True, cwd=BUILT, capture_output=True, text=True, check=False
    )


def shown(point: points.Point) -> str:
    """Its place and text."""
    data = (ROOT / point.file).read_bytes()
    line = 1 + data.count(b"\n", 0, point.begin)
    text = " ".join(data[point.begin : point.end].decode().split())
    return f"{point.file}:{line}: {point.kind} `{text}`"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "tests/mutate/run", description=__doc__.splitlines()[0]
    )
    parser.add_argument("algorithms", nargs="*", metavar="ALGORITHM")
    parser.add_argument("--jobs", type=int, default=1, help="changes at once")
    parser.add_argument("--list", action="store_true", help="the changes only")
    parser.add_argument("--sample", type=int, help="so many changes, drawn at random")
    parser.add_argument("--seed", type=int, default=1, help="of that draw")
    parser.add_argument(
        "--no-build", action="store_true", help="with what an earlier call built"
    )
    return parser.parse_args()


def tried(
    found: list[points.Point], options: argparse.Namespace
) -> dict[str, list[int]]:
    """The numbers of the changes that are tried, by algorithm."""
    there = sorted({point.algorithm for point in found})
    if unknown := set(options.algorithms) - set(there):
        sys.exit(
            f"tests/mutate/run: no oracle of {', '.join(sorted(unknown))}: there are {', '.join(there)}"
        )
    wanted = options.algorithms or there
    numbers = [n for n, point in enumerate(found, 1) if point.algorithm in wanted]
    if options.sample and options.sample < len(numbers):
        numbers = sorted(random.Random(options.seed).sample(numbers, options.sample))
    drawn = {
        name: [n for n in numbers if found[n - 1].algorithm == name] for name in wanted
    }
    return {name: some for name, some in drawn.items() if some}


def main() -> int:
    options = arguments()
    if options.no_build:
        found = [points.Point(**one) for one in json.loads(POINTS.read_text())]
    else:
        found = of_oracles(points.all_points(ROOT, COMMANDS))
    numbers = tried(found, options)
    if options.list:
        print("\n".join(shown(found[n - 1]) for some in numbers.values() for n in some))
        return 0
    if not options.no_build:
        copy()
        points.rewrite(SOURCE, found)
        build({point.file for point in found}, options.jobs)
        POINTS.write_text(json.dumps([asdict(point) for point in found]))
    total, caught, missed = Counter(), Counter(), []
    for algorithm, some in numbers.items():
        tests, begin = Tests(algorithm, options.jobs), time.monotonic()
        with ThreadPoolExecutor(options.jobs) as pool:
            outcomes = list(pool.map(tests.find, some))
        for number, outcome in zip(some, outcomes, strict=True):
            point = found[number - 1]
            total[point.kind, algorithm] += 1
            caught[point.kind, algorithm] += outcome
            if not outcome:
                missed.append(shown(point))
                print(f"not found: {missed[-1]}", flush=True)
        kinds = [
            f"{caught[kind, algorithm]} of {total[kind, algorithm]} {kind}s"
            for kind in ("term", "bound")
        ]
        seconds = time.monotonic() - begin
        print(f"{algorithm:20} {', '.join(kinds)} found, {seconds:.0f} s", flush=True)
    return tell(total.total(), caught.total(), len(found), missed)


def tell(total: int, caught: int, there: int, missed: list[str]) -> int:
    """Prints the score, and writes it down."""
    score = caught / max(1, total)
    drawn = "" if total == there else f" (of {there} that there are)"
    print(f"{caught} of {total} changes{drawn} were found: {100 * score:.1f} %")
    figures = {"changes": total, "found": caught, "missed": missed}
    (FOLDER / "score.json").write_text(json.dumps(figures, indent=1))
    return 0 if score >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
