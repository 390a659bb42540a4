# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks that are killed, stopped or told to end: the run ends, and --resume goes on."""

import os
import signal
import subprocess
import time

from cluster_support import LEAGUE, nightly
from ranks_support import ENVIRONMENT, finished, mpirun, rows_of, with_mpi

pytestmark = with_mpi

LONG = """
samples = 300
null = false
launches = "auto"
models = "openmp"
algorithm = "distance_matrix"
methods = "direct"

[[cases]]
sizes = { n = 300, dimension = 3 }
samples = 5

[[cases]]
sizes = { n = 2000, dimension = 30 }
"""


def begun(tmp_path):
    """A run of two ranks whose second comparison takes long: the process, and those of its ranks."""
    (tmp_path / "long.toml").write_text(LONG)
    words = ["run", tmp_path / "long.toml", "--records", tmp_path / "records"]
    process = mpirun(2, *words)
    deadline = time.monotonic() + 60
    while not list((tmp_path / "records").glob("000-*.json")):
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.1)
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(process.pid)],
        capture_output=True,
        text=True,
        check=True,
    )
    ranks = [
        int(line.split()[0])
        for line in listed.stdout.splitlines()
        if str(tmp_path) in line
    ]
    assert len(ranks) == 2
    return process, sorted(ranks)


def goes_on(tmp_path):
    (tmp_path / "long.toml").write_text(LONG)
    words = [
        "run",
        tmp_path / "long.toml",
        "--records",
        tmp_path / "records",
        "--resume",
    ]
    code, _, err = finished(mpirun(2, *words))
    assert code == 0, err
    assert {row["status"] for row in rows_of(tmp_path / "records").values()} == {
        "passed"
    }


def test_a_rank_that_is_killed_ends_all_and_resume_goes_on(tmp_path):
    process, ranks = begun(tmp_path)
    os.kill(ranks[1], signal.SIGKILL)
    code, _, _ = finished(process, 60)
    assert code != 0
    assert rows_of(tmp_path / "records")
    goes_on(tmp_path)


@nightly
def test_a_rank_that_is_stopped_ends_all_within_a_minute(tmp_path):
    process, ranks = begun(tmp_path)
    os.kill(ranks[1], signal.SIGSTOP)
    code, _, err = finished(process, 60)
    assert code != 0
    assert "has not answered rank 0 for 30 s" in err
    goes_on(tmp_path)


def test_a_signal_to_the_ranks_is_an_interrupt(tmp_path):
    process, ranks = begun(tmp_path)
    for rank in ranks:
        os.kill(rank, signal.SIGTERM)
    code, _, err = finished(process, 60)
    assert code == 130, err
    goes_on(tmp_path)


def test_a_full_disk_of_rank_0_is_told_once(tmp_path):
    """A limit of a file's size stands in for it: the error of the write is all that differs."""
    (tmp_path / "study.toml").write_text(LONG.replace("n = 2000", "n = 20"))
    words = [LEAGUE, "run", tmp_path / "study.toml", "--records", tmp_path / "records"]
    limited = ["bash", "-c", 'ulimit -f 3; exec "$@"', "_", *words]
    command = ["mpirun", "--oversubscribe", "--mca", "btl", "self,tcp"]
    command += ["-n", 1, *limited, ":", "-n", 1, *words]
    done = subprocess.run(
        list(map(str, command)),
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    told = [line for line in done.stderr.splitlines() if "File too large" in line]
    assert len(told) == 1, done.stderr
    assert not list((tmp_path / "records").glob("[0-9]*.json"))
