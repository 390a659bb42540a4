# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The folder of the programs and peaks of `league try`: shared by two runs, or closed to one."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time

import pytest

from tests.bench.test_try import FEW, LEAGUE, PLANTED, is_built

pytestmark = pytest.mark.skipif(not LEAGUE.exists(), reason="no build/openmp/league")
__all__ = ["is_built"]
FOLDER = LEAGUE.parent / "try/sum/your_kokkos-kokkos_right"


def start(records, *options):
    words = [LEAGUE, "try", PLANTED / "kokkos_right.cpp", "--as", "sum", *FEW]
    return subprocess.Popen(
        [*words, "--set", "sizes=1000", "--records", records, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextlib.contextmanager
def folder():
    """The folder of the program, open so that it can be locked."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield file
    finally:
        os.close(file)


def test_the_second_waits_for_the_first(tmp_path):
    """Until the first has ended, which may start its program at any time."""
    program = FOLDER / "program"
    program.unlink(missing_ok=True)
    with folder() as first:
        fcntl.flock(first, fcntl.LOCK_EX)
        second = start(tmp_path / "records")
        said = second.stderr.readline()
        time.sleep(1)
        waited = second.poll() is None and not program.exists()
    out, err = second.communicate(timeout=300)
    assert said.startswith("league: waits for another `league try` of a file of this")
    assert waited and program.exists()
    assert second.returncode == 0, out + err


def test_it_is_held_until_the_end(tmp_path):
    """A run that compiles nothing keeps others from compiling."""
    start(tmp_path / "made").communicate(timeout=300)
    running = start(tmp_path / "records", "--no-compile", "--set", "samples=2000")
    with folder() as file:
        try:
            while not list((tmp_path / "records").glob("run.json")):
                assert running.poll() is None
                time.sleep(0.01)
            with pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            running.kill()
            running.communicate()
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_build_that_can_only_be_read_keeps_no_peaks(tmp_path):
    """As in an image of a container. The rows and their records are there all the same."""
    program = shutil.copy(LEAGUE, tmp_path / "league")
    (tmp_path / "try").mkdir()
    (tmp_path / "try/peaks").write_text("in the way of the folder")
    words = ["try", PLANTED / "right.py", "--as", "sum", *FEW, "--set", "sizes=1000"]
    records = tmp_path / "records"
    done = subprocess.run(
        [program, *words, "--records", records, "--python", sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "league: the peaks are not kept: cannot make the folder" in done.stderr
    assert list(records.glob("0*.json"))
