# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`league try`: compiled kernels that do not compute each time are FAILED rows; those that do pass."""

import os
import subprocess
import sys

import pytest

from tests.bench.test_try import LEAGUE, PLANTED, ROOT, league_try

pytestmark = [
    pytest.mark.skipif(not LEAGUE.exists(), reason="no build/openmp/league"),
    pytest.mark.xdist_group("compiled cheats"),
]
FILE = PLANTED / "kokkos_cheats.cpp"
ROW = "your_kokkos kokkos_cheats"
FEW = ["--set", "samples=10", "--set", "models=openmp", "--set", "sizes=300001"]
#: The way, and what its reason says: any of these.
CHEATS = {
    "if_poisoned": ("altered just before",),
    "if_ends_are_wrong": ("altered just before",),
    "if_16_are_wrong": ("altered just before",),
    "if_each_61st_is_wrong": ("altered just before",),
    "half_of_a_burst": ("just before",),
    "keeps_by_content": ("it keeps its results",),
    "every_second_call": ("just before", "wrong"),
    "first_100_calls": ("just before", "wrong in a timed compute"),
    "after_a_pause": ("just before",),
    "a_quarter_of_the_values": ("just before",),
    "copies_its_former_result": ("with other inputs it left the same result",),
    "in_a_thread": ("still changing", "wrong"),
    "slow_clock": ("seen from here", "it has not done its work"),
}


@pytest.fixture(scope="module", autouse=True)
def is_compiled(tmp_path_factory):
    """Once: the kernel reads the name of the way from its environment."""
    records = tmp_path_factory.mktemp("compiled")
    league_try(FILE, "--as", "vector_add", *FEW, records=records, code=0)


def tried(cheat, records, code, monkeypatch):
    monkeypatch.setenv("CHEAT", cheat)
    words = (FILE, "--as", "vector_add", "--no-compile", *FEW)
    return league_try(*words, records=records, code=code)


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheat_is_a_failed_row(cheat, tmp_path, monkeypatch):
    done, rows = tried(cheat, tmp_path / "records", 1, monkeypatch)
    row = rows[ROW]
    assert row["status"] == "failed", row
    assert any(text in row["reason"] for text in CHEATS[cheat]), row["reason"]
    assert rows["openmp plain"]["status"] == "passed"
    assert f"FAILED: {row['reason']}" in done.stdout


def test_an_honest_kernel_passes(tmp_path, monkeypatch):
    for run in range(5):
        _, rows = tried("none", tmp_path / str(run), 0, monkeypatch)
        inspections = rows[ROW]["inspections"]
        assert inspections["altered"] >= 6
        assert inspections["poisoned"] >= 6
        assert inspections["results"] >= 3


def test_peaks_are_measured_once(tmp_path):
    """The ceilings of the first run are those of the second."""
    words = (FILE, "--as", "vector_add", "--no-compile", *FEW)
    samples = []
    for name in ("first", "second"):
        _, rows = league_try(*words, records=tmp_path / name, code=0)
        samples.append([rows[f"openmp {m}"]["samples"] for m in ("copy", "read")])
    assert samples[0] == samples[1]


def test_the_report_reads_such_records(tmp_path):
    words = (FILE, "--as", "vector_add", "--no-compile", *FEW)
    league_try(*words, records=tmp_path / "records", code=0)
    command = [sys.executable, "-m", "bench.report", tmp_path]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert "kokkos_cheats" in done.stdout
