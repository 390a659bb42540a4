# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/run around a program that stands for league: folders, launches, exit codes."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = """#!/usr/bin/env bash
# run STUDY --records DIR [options]: launch by launch the records and exit codes that lie beside it
here=$(dirname "$0") number=$(($(cat "$(dirname "$0")/count" 2>/dev/null || echo 0) + 1))
echo "$number" >"$here/count"
echo "$*" >>"$here/calls"
mkdir -p "$4" && cp "$here/$number.json" "$4/" 2>/dev/null
exit "$(cat "$here/$number.code" 2>/dev/null || echo 0)"
"""


@pytest.fixture
def league(tmp_path, save, entry):
    """A program whose three launches measure kokkos at 1, 2 and 3 ms."""
    folder = tmp_path / "program"
    folder.mkdir()
    for number in (1, 2, 3):
        samples = [number * 1e-3] * 8
        kept = save(
            [entry("kokkos", samples)], folder=f"made-{number}", launch_id=str(number)
        )
        shutil.copy(next(kept.glob("records/*.json")), folder / f"{number}.json")
    program = folder / "league"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return program


def run(league, *options):
    study = league.with_name("study.toml")
    study.write_text("")
    output = league.with_name("output")
    command = [ROOT / "bench/run", "--no-build", "--executable", league, "--no-peers"]
    command += ["--output", output, study, *options]
    done = subprocess.run(
        list(map(str, command)),
        check=False,
        capture_output=True,
        text=True,
        cwd=league.parent,
    )
    return done, output


def calls(league):
    return league.with_name("calls").read_text().splitlines()


def test_one_launch_lies_in_the_folder_itself(league):
    done, output = run(league, "--set", "samples=8")
    assert done.returncode == 0, done.stderr
    (call,) = calls(league)
    assert call.endswith(f"--records {output}/records --set samples=8")
    assert "8 samples x 1 launch" in (output / "table.md").read_text()


def test_launches_are_reported_as_one(league):
    done, output = run(league, "--repeat", "3")
    assert done.returncode == 0, done.stderr
    assert [c.split("--records ")[1] for c in calls(league)] == [
        f"{output}/{number}/records" for number in (1, 2, 3)
    ]
    text = (output / "table.md").read_text()
    assert "8 samples x 3 launches" in text and "2.000 ms" in text
    assert (output / "report/index.html").exists() and not (
        output / "1/report"
    ).exists()


@pytest.mark.parametrize(("code", "launches"), [(1, 3), (2, 2), (130, 2)])
def test_a_failure_is_told_and_what_cannot_go_on_ends(league, code, launches):
    league.with_name("2.code").write_text(str(code))
    done, output = run(league, "--repeat=3")
    assert done.returncode == code
    assert len(calls(league)) == launches
    assert (output / "table.md").exists() == (code != 2)


def test_what_measures_nothing_runs_once(league):
    done, output = run(league, "--repeat", "3", "--dry-run")
    assert done.returncode == 0 and len(calls(league)) == 1
    assert not (output / "table.md").exists()


@pytest.mark.parametrize("number", ["0", "-1", "two", ""])
def test_repeat_takes_a_number(league, number):
    done, _ = run(league, "--repeat", number)
    assert done.returncode == 2 and f"--repeat {number}" in done.stderr
