# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How often verdicts are wrong on this machine, and how often a difference of a known size is found.

Runs a study of many small problems in which each kernel stands several times (LEAGUE_EFFECTS, tests/faults/effects.cpp):
twice as it is, a null comparison; and with 1, 2, 3 and 5 % more computes in a sample. Samples, intervals and verdicts
are those of any study. Prints, for each device, the rate of false verdicts and the power for each effect.
--resume goes on where the time of an earlier call was over.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from bench.report.case import Case
from bench.report.merge import load
from bench.report.noise import half_width
from bench.report.options import MARGIN
from bench.report.placements import is_placed
from bench.report.ratios import ratio
from bench.report.statistics import median

ROOT = Path(__file__).resolve().parents[2]
#: Algorithm, method, and the range of its size: computes of 2 to 20 us on a GPU.
WORK = [
    ("vector_add", "wide", "n = { log_uniform = [20_000, 200_000] }"),
    ("sum", "two_stage", "n = { log_uniform = [20_000, 200_000] }"),
    ("distance_matrix", "direct", "n = { log_uniform = [64, 512] }, dimension = 3"),
]
EFFECTS = (1, 2, 3, 5)  # % more work
MODELS = "openmp,kokkos,kokkos_specialised,cuda,hip"
MAX_FALSE = 0.05  # of the verdicts given
POWER = {2: 0.80, 3: 0.95}  # goals, on a quiet GPU
NULL = "null"
VERDICTS = ("slower", "same", "unresolved", "faster")


@dataclass
class Tally:
    """What came out on one device: the verdicts on each effect, 0 for null comparisons."""

    verdicts: dict[int, Counter[str]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    widths: list[float] = field(default_factory=list)
    placed: int = 0  # null comparisons at several placements
    false_of: Counter[str] = field(default_factory=Counter)  # by algorithm

    def share(self, effect: int, verdict: str) -> float:
        """Of the trials of an effect, those with this verdict."""
        of = self.verdicts[effect]
        return of[verdict] / max(1, of.total())

    @property
    def given(self) -> int:
        """Verdicts on null comparisons."""
        return self.verdicts[0].total() - self.verdicts[0]["unresolved"]

    @property
    def false(self) -> int:
        """Those of them that are false."""
        return self.verdicts[0]["faster"] + self.verdicts[0]["slower"]


def study(
    problems: int, trials: int, samples: int, models: list[str], placements: str
) -> str:
    """The study as TOML; problems and trials are shared out among the kernels."""
    lines = [f"samples = {samples}", "null = false", f"models = {models}"]
    if placements != "auto":
        lines.append(f"placements = {int(placements)}")
    every = ["_null", "_null_again", *(f"_{effect}_more" for effect in EFFECTS)]
    for count, suffixes in ((trials, every), (problems, every[:2])):
        for number, (algorithm, method, sizes) in enumerate(WORK):
            some = (count + number) // len(WORK)
            if some:
                names = [method + suffix for suffix in suffixes]
                lines += ["", "[[cases]]", f'algorithm = "{algorithm}"']
                lines += [f"methods = {names}", f"shapes = {some}"]
                lines += [f"sizes = {{ {sizes} }}"]
    return "\n".join(lines).replace("'", '"') + "\n"


def tallies(cases: Iterable[Case]) -> dict[str, Tally]:
    """The verdicts of all pairs, by device."""
    kinds: dict[tuple[str, ...], dict[str, Case]] = defaultdict(dict)
    for case in cases:
        found = re.fullmatch(r"(\w+?)_(null|null_again|\d+_more)", case.method)
        if found and case.status == "passed":
            kinds[case.comparison, case.model, case.setting, found[1]][found[2]] = case
    by_device: dict[str, Tally] = defaultdict(Tally)
    for kind in kinds.values():
        for name, case in kind.items():
            if name != NULL and NULL in kind:
                tally = by_device[case.device_name or case.device_kind]
                found_ratio = ratio(case, kind[NULL], MARGIN)
                effect = int(name.split("_")[0]) if name[0].isdigit() else 0
                tally.verdicts[effect][found_ratio.verdict] += 1
                if effect == 0:
                    tally.placed += is_placed(case.launches.values())
                    if found_ratio.verdict in ("faster", "slower"):
                        tally.false_of[case.algorithm] += 1
                if width := half_width(found_ratio):
                    tally.widths.append(width)
    return dict(by_device)


def lines(name: str, tally: Tally) -> list[str]:
    """What is printed of a device; whether it is too noisy comes before any verdict."""
    width = median(tally.widths) if tally.widths else float("inf")
    found = [f"{name}: half of the ratios are known to +-{100 * width:.2g} %"]
    if width > MARGIN:
        found.append(f"  too noisy for verdicts within {100 * MARGIN:g} %")
    null = tally.verdicts[0]
    counts = ", ".join(f"{null[word]} {word}" for word in VERDICTS)
    rate = 100 * tally.false / max(1, tally.given)
    found.append(f"  {null.total()} null comparisons: {counts}")
    found.append(f"  {tally.placed} of them at several placements of the arrays")
    found.append(f"  of the {tally.given} verdicts given {rate:.2f} % are false")
    if tally.false:
        kernels = ", ".join(f"{n} of {name}" for name, n in tally.false_of.items())
        found.append(f"  false: {kernels}")
    found.append("  more work  trials" + "".join(f"{word:>12}" for word in VERDICTS))
    for effect in EFFECTS:
        cells = "".join(
            f"{100 * tally.share(effect, word):10.1f} %" for word in VERDICTS
        )
        found.append(f"  {effect:7} %  {tally.verdicts[effect].total():6}{cells}")
    return found


def met(tally: Tally, gpu: bool) -> bool:
    """Whether the goals are met: few false verdicts, and on a GPU power."""
    few = tally.given and tally.false <= MAX_FALSE * tally.given
    found = all(tally.share(effect, "slower") >= goal for effect, goal in POWER.items())
    return bool(few) and (found or not gpu)


def measure(options: argparse.Namespace) -> None:
    """Runs the study."""
    if not options.resume:
        shutil.rmtree(options.output / "records", ignore_errors=True)
    options.output.mkdir(parents=True, exist_ok=True)
    file = options.output / "verdicts.toml"
    models = options.models.split(",")
    counts = (options.problems, options.trials, options.samples)
    file.write_text(study(*counts, models, options.placements))
    records = options.output / "records"
    command = [options.executable, "run", file, "--records", records]
    command += ["--resume"] * (options.resume and records.exists())
    environment = os.environ | {"LEAGUE_EFFECTS": "1"}
    with (options.output / "log").open("w") as log:
        words = [str(word) for word in command]
        run = subprocess.Popen(words, env=environment, stdout=log, stderr=log)
        try:
            run.wait(60 * options.minutes)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGINT)  # what it has recorded is whole
            print(f"the first {options.minutes:g} minutes of the study")
    if run.wait() not in (0, 130):
        sys.exit(
            f"tests/verdicts/run: the study ended with {run.returncode}: {log.name}"
        )


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(
        "tests/verdicts/run", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--executable", type=Path, required=True, help="league_faults")
    parser.add_argument(
        "--problems", type=int, default=600, help="with null comparisons only"
    )
    parser.add_argument(
        "--trials", type=int, default=100, help="problems with all effects"
    )
    parser.add_argument("--samples", type=int, default=20)
    parser.add_argument("--placements", default="auto", help="a number, or auto")
    parser.add_argument(
        "--minutes", type=float, default=6, help="at most, of measuring"
    )
    parser.add_argument("--models", default=MODELS, help="those that this build has")
    parser.add_argument("--output", type=Path, default=ROOT / "build/verdicts")
    parser.add_argument(
        "--resume", action="store_true", help="goes on with the records that are there"
    )
    parser.add_argument(
        "--no-run", action="store_true", help="of the records that are there"
    )
    options = parser.parse_args()
    if not options.no_run:
        measure(options)
    cases, problems = load([options.output])
    found = tallies(cases)
    for text in problems:
        print(text)
    for name, tally in found.items():
        print("\n".join(lines(name, tally)))
    counts = {name: tally.verdicts for name, tally in found.items()}
    (options.output / "verdicts.json").write_text(json.dumps(counts, indent=1))
    gpus = {case.device_name for case in cases if case.device_kind == "gpu"}
    good = [met(tally, name in gpus) for name, tally in found.items()]
    return 0 if good and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
