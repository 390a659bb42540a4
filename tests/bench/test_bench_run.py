# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/run around a program that stands for league: folders, launches, exit codes."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """#!/usr/bin/env bash
# run STUDY --records DIR [options]: launch by launch the records and exit codes that lie beside it
here=$(dirname "$0") number=$(($(cat "$(dirname "$0")/count" 2>/dev/null || echo 0) + 1))
echo "$number" >"$here/count"
echo "$*" >>"$here/calls"
echo "case of launch $number"
mkdir -p "$4" && cp "$here/$number.json" "$4/" 2>/dev/null
exit "$(cat "$here/$number.code" 2>/dev/null || echo 0)"
"""


# ends as league does, at the first signal; a second one within its patience is noted
INTERRUPTED = """#!/usr/bin/env python3
import os, shutil, signal, sys, time
from pathlib import Path
here, records, signals = Path(__file__).parent, Path(sys.argv[4]), []
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, lambda number, _: signals.append(number))
records.mkdir(parents=True)
shutil.copy(here / "1.json", records)
(here / "calls").open("a").write("call\\n")
(here / "pid").write_text(str(os.getpid()))
while not signals:
    time.sleep(0.01)
time.sleep(0.3)
(here / "signals").write_text(" ".join(signal.Signals(s).name for s in signals))
sys.exit(130)
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


def command(league, output, *options):
    study = league.with_name("study.toml")
    study.write_text("")
    words = [ROOT / "bench/run", "--no-build", "--executable", league, "--no-peers"]
    return list(map(str, [*words, "--output", output, study, *options]))


def run(league, *options, output="output"):
    output = league.with_name(output)
    done = subprocess.run(
        command(league, output, *options),
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


def test_the_records_alone_where_no_report_is_wanted(league):
    league.with_name("1.code").write_text("1")
    done, output = run(league, "--no-report")
    assert done.returncode == 1 and list(output.glob("records/*.json"))
    assert not (output / "table.md").exists()
    assert not any("--no-report" in call for call in calls(league))


def test_the_output_is_short_unless_asked_for(league):
    done, output = run(league)
    assert "case of launch" not in done.stdout
    assert done.stderr.splitlines()[-1].startswith(
        f"report: {output}/report/index.html"
    )
    everything, _ = run(league, "--verbose")
    assert everything.stdout.startswith("case of launch 2\n")
    assert not any("--verbose" in call for call in calls(league))


@pytest.mark.parametrize(
    "option", ["--dry-run", "--benchmark_list_tests", "--benchmark_format=csv"]
)
def test_what_league_is_asked_to_print_is_printed(league, tmp_path, option):
    kept = tmp_path / "kept"
    with kept.open("w") as file:
        file.write("before\n")
        file.flush()
        words = command(league, league.with_name("output"), option)
        subprocess.run(words, check=True, stdout=file, stderr=subprocess.DEVNULL)
    assert kept.read_text().startswith("before\ncase of launch 1\n")


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


@pytest.mark.parametrize("number", ["0", "-1", "two", "", "9" * 20])
def test_repeat_takes_a_number(league, number):
    done, _ = run(league, "--repeat", number)
    assert done.returncode == 2 and f"--repeat {number}" in done.stderr


NAMES = ["50%off", "two words", "-dash", "two\nlines", "[a]*?", "$(x) 'y' \\"]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_of_a_folder_will_do(league, name):
    done, output = run(league, "--repeat", "2", output=name)
    assert done.returncode == 0, done.stderr
    assert league.with_name("count").read_text() == "2\n"
    assert (output / "2/records").is_dir()
    assert (output / "table.md").exists()


def test_a_folder_lies_where_the_command_was_given(league):
    done, _ = run(league, "--output", "-dash")
    assert done.returncode == 0, done.stderr
    assert (league.with_name("-dash") / "table.md").exists()


def test_a_report_that_is_not_whole_is_no_success(league):
    record = league.with_name("1.json")
    shutil.copy(record, league.with_name("2.json"))
    record.write_text("{")
    done, _ = run(league)
    assert done.returncode == 1 and "the report is not whole" in done.stderr


@pytest.mark.parametrize("name", ["random", "json", "numpy", "msgspec", "bench"])
def test_modules_of_the_folder_one_stands_in_are_not_imported(league, name):
    league.with_name(f"{name}.py").write_text("raise SystemExit('not this')\n")
    done, output = run(league)
    assert done.returncode == 0 and "not this" not in done.stdout + done.stderr
    assert (output / "table.md").exists()


@pytest.fixture
def without_packages(tmp_path, monkeypatch):
    """A python3 that has the standard library alone, and a project without a virtual environment."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
    (tools / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    project = tmp_path / "project"
    project.mkdir()
    for name in ("bench", "backends", "algorithms"):
        (project / name).symlink_to(ROOT / name)
    return project / "bench/run"


@pytest.mark.parametrize("name", ["random", "numpy"])
def test_modules_of_the_projects_folder_are_not_imported(
    league, without_packages, name
):
    project = without_packages.parents[1]
    (project / f"{name}.py").write_text("raise SystemExit('not this')\n")
    words = command(league, league.with_name("output"), "--python", sys.executable)
    words[0] = str(without_packages)
    words.remove("--no-peers")
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert league.with_name("output").joinpath("table.md").exists()


def test_a_virtual_environment_reads_the_records_too(league, without_packages):
    words = command(league, league.with_name("output"))
    words[0] = str(without_packages)
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 1 and "no report: 'python3' lacks NumPy" in done.stderr
    words.remove("--no-peers")
    environment = str(Path(sys.executable).parents[1])
    words += ["--python", environment]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert league.with_name("output").joinpath("table.md").exists()
    assert f"--python {environment}/bin/python --peers" in calls(league)[-1]


@pytest.fixture
def started(league):
    """bench/run with three launches, the first of which waits for a signal; and the process of that."""
    league.write_text(INTERRUPTED)

    def listen():  # whatever the tests were started with
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)

    program = subprocess.Popen(
        command(league, league.with_name("output"), "--repeat=3"),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=listen,  # noqa: PLW1509 (there are no threads)
    )
    pid = league.with_name("pid")
    while program.poll() is None and not (pid.exists() and pid.read_text()):
        time.sleep(0.01)
    yield program, int(pid.read_text())
    with contextlib.suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_reaches_league_and_what_it_recorded_is_reported(
    league, started, number
):
    program, inner = started
    program.send_signal(getattr(signal, number))
    _, said = program.communicate(timeout=60)
    assert program.returncode == 130, said
    with pytest.raises(ProcessLookupError):
        os.kill(inner, 0)
    assert league.with_name("signals").read_text() == "SIGTERM"
    assert len(calls(league)) == 1
    assert (league.with_name("output") / "table.md").exists()


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_a_signal_to_both_is_waited_for(league, started, number):
    """A terminal, and `timeout`, signal all processes of the group."""
    program, _ = started
    os.killpg(program.pid, getattr(signal, number))
    _, said = program.communicate(timeout=60)
    assert program.returncode == 130, said
    assert number in league.with_name("signals").read_text().split()
    assert (league.with_name("output") / "table.md").exists()
