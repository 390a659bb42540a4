# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two `league try` of files of one name: they share a program."""

import fcntl
import os
import subprocess
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


def test_the_second_waits_for_the_first(tmp_path):
    """Until the first has ended, which may start its program at any time."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    program = FOLDER / "program"
    program.unlink(missing_ok=True)
    first = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(first, fcntl.LOCK_EX)
    second = start(tmp_path / "records")
    said = second.stderr.readline()
    assert said.startswith("league: waits for another `league try` of a file of this")
    time.sleep(1)
    assert second.poll() is None and not program.exists()
    os.close(first)
    out, err = second.communicate(timeout=300)
    assert second.returncode == 0, out + err
    assert program.exists()


def test_it_is_held_until_the_end(tmp_path):
    """A run that compiles nothing keeps others from compiling."""
    start(tmp_path / "made").communicate(timeout=300)
    running = start(tmp_path / "records", "--no-compile", "--set", "samples=2000")
    file = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY)
    try:
        while not list((tmp_path / "records").glob("run.json")):
            assert running.poll() is None
            time.sleep(0.01)
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        running.kill()
        running.communicate()
    fcntl.flock(file, fcntl.LOCK_EX)
    os.close(file)
