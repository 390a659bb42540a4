# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tests/verdicts/run: what it counts, on planted records and on a study of three problems."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
import verdicts

ROOT = Path(__file__).resolve().parents[2]
EXECUTABLE = ROOT / "build/openmp/league_faults"


def test_counts_verdicts_by_effect(save, entry):
    from bench.report.merge import load

    rng, entries = np.random.default_rng(5), []
    for number in range(20):
        for suffix, slower in (
            ("null", 1),
            ("null_again", 1),
            ("1_more", 1.01),
            ("5_more", 1.05),
        ):
            samples = list(1e-3 * slower * np.exp(0.002 * rng.standard_normal(20)))
            entries.append(entry("cuda", samples, method=f"m{number}_{suffix}"))
    cases, problems = load([save(entries)])
    assert not problems
    (tally,) = verdicts.tallies(cases).values()
    assert tally.verdicts[0] == {"same": 20} and tally.given == 20 and tally.false == 0
    assert tally.verdicts[5] == {"slower": 20} and tally.verdicts[1].total() == 20
    assert not verdicts.met(tally, gpu=True)  # of 2 and 3 % there are none
    assert verdicts.met(tally, gpu=False)
    said = verdicts.lines("NVIDIA H200", tally)
    assert not any("too noisy" in text for text in said)
    tally.widths = [0.1]
    said = "\n".join(verdicts.lines("NVIDIA H200", tally))
    assert 0 < said.find("too noisy") < said.find("same")


@pytest.mark.skipif(not EXECUTABLE.exists(), reason="no league_faults")
def test_measures_each_kernel_with_more_work(tmp_path):
    command = [ROOT / "tests/verdicts/run", "--executable", EXECUTABLE]
    command += [
        "--problems",
        "3",
        "--trials",
        "3",
        "--samples",
        "6",
        "--models",
        "serial",
    ]
    command += ["--placements", "3", "--output", tmp_path]
    for more in ([], ["--resume"]):
        done = subprocess.run(
            [*command, *more],
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (0, 1) and "6 null comparisons" in done.stdout, done
        assert "6 of them at several placements" in done.stdout, done
        (counts,) = json.loads((tmp_path / "verdicts.json").read_text()).values()
        totals = {int(effect): sum(some.values()) for effect, some in counts.items()}
        assert totals == {0: 6, 1: 3, 2: 3, 3: 3, 5: 3}


@pytest.mark.skipif(not EXECUTABLE.exists(), reason="no league_faults")
def test_there_are_as_many_problems_as_are_asked_for_by_default(tmp_path):
    file = tmp_path / "verdicts.toml"
    file.write_text(verdicts.study(600, 100, 6, ["serial"], "auto"))
    done = subprocess.run(
        [EXECUTABLE, "run", file, "--dry-run"],
        env=os.environ | {"LEAGUE_EFFECTS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
