# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The replicated studies: the table's rows against files and figures, its times against records, each study read."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LEAGUE = ROOT / "build/openmp/league"
FOLDER = ROOT / "configs/studies"
RESULTS = ROOT / "bench/results"
PAGE = (RESULTS / "studies.md").read_text(encoding="utf-8")
STUDIES = sorted(path.stem for path in FOLDER.glob("*.toml"))
VERDICTS = {"holds", "does not hold", "cannot be compared", "not measured yet"}
FIGURES = {"000": 2, "001": 8, "002": 4, "003": 1, "004": 8}  # at least
LINK = re.compile(r"\[(\w+)\]\(\.\./\.\./configs/studies/(\w+)\.toml\)")
TIME = re.compile(r"[\d,.]+ (?:us|ms|s)\b")
TABLE = re.compile(r"\(([\w-]+/table\.md)\)")


def rows():
    """The table, as cells."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| 0")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


ROWS = rows()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1][:30]}".lower())
def test_every_row_is_whole(row):
    study, figure, claim, here, measured, verdict, why = row
    assert all((study, figure, claim, why)) and verdict in VERDICTS
    names = LINK.findall(here)
    assert names and all(text == file and file in STUDIES for text, file in names)
    assert all(f"`bench/run configs/studies/{file}.toml" in here for _, file in names)
    if verdict in ("holds", "does not hold"):
        assert TIME.search(measured)


def test_every_study_has_a_row_and_every_figure_is_there():
    named = {file for row in ROWS for _, file in LINK.findall(row[3])}
    assert named == set(STUDIES)
    for study, count in FIGURES.items():
        assert sum(study in row[0].split(", ") for row in ROWS) >= count, study


def test_every_study_has_a_figure_that_its_rows_link():
    assert sorted(re.findall(r"^### (\w+)$\n\n!\[", PAGE, re.MULTILINE)) == STUDIES
    for row in ROWS:
        assert f"([figure](#{LINK.findall(row[3])[0][0]}))" in row[3]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1][:30]}".lower())
def test_times_are_those_of_the_published_tables(row):
    """A time that no published table has was not measured."""
    times, tables = TIME.findall(row[4]), TABLE.findall(row[4])
    assert bool(times) == bool(tables)
    text = "".join((RESULTS / table).read_text(encoding="utf-8") for table in tables)
    assert [time for time in times if f" {time} [" not in text] == []


@pytest.fixture(scope="module", name="league")
def whole_build():
    """A build with all algorithms that runs here."""
    if not LEAGUE.exists():
        pytest.skip("no build/openmp/league")
    listed = subprocess.run([LEAGUE, "list"], capture_output=True, check=False)
    if listed.returncode or b"\ncnn:" not in listed.stdout:
        pytest.skip("a build without all algorithms, or one that does not run here")
    return LEAGUE


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_is_read(league, study):
    done = subprocess.run(
        [league, "run", Path("configs/studies") / f"{study}.toml", "--print-study"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "algorithm" in done.stdout
