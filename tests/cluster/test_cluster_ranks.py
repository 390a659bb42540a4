# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks on both nodes of a small Slurm, which exchange data: the same results as one process; one of them is killed."""

import contextlib
import hashlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from cluster_support import SITE, nightly, submit

from bench.report import merge

RANKS, NODES = 2, 2  # ranks a node
PATIENCE_S = 60  # in which the job ends once a rank is lost
ORDERED = """samples = 6
[[cases]]
algorithm = "sum"
methods = "two_stage"
models = "kokkos"
dtypes = "f64"
sizes = [3, 100003]
communicator = "mpi"
[[cases]]
algorithm = "linear_regression"
methods = "fused"
models = "kokkos"
sizes = { points = 1009, features = 3 }
steps = 5
communicator = "mpi"
"""
CASES = 10
LONG = """samples = 60
null = false
[[cases]]
algorithm = "linear_regression"
methods = "fused"
models = "kokkos"
sizes = { points = [1009, 1013, 1019, 1021, 1031, 1033, 1039, 1049, 1051, 1061], features = 3 }
steps = 10
communicator = "mpi"
"""

pytestmark = nightly


@pytest.fixture
def ranks(has_pmix, league, tmp_path):
    """ranks(study, words...) submits to both nodes; the output folder."""
    if not has_pmix:
        pytest.skip("Slurm cannot load PMIx (bench/setup --cluster)")
    said = subprocess.run(
        [league, "run", "--help"], capture_output=True, text=True, check=True
    )
    if "--mpi" not in said.stdout:
        pytest.skip("this executable has no ranks: no --mpi in league run --help")

    def run(study, *words):
        path, output = tmp_path / "study.toml", tmp_path / "out"
        path.write_text(study)
        usual = ["--site", SITE, "--nodes", NODES, "--ranks-per-node", RANKS]
        usual += ["--time", "10", "--output", output, "--executable", league]
        return submit(path, *usual, *words), output

    return run


def hashes(folder):
    """Of all saved results."""
    files = sorted(Path(folder).rglob("*.npy"))
    return {
        str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest()
        for f in files
    }


def league_processes(records):
    """Process ids by rank."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (place / "cmdline").read_bytes().split(b"\0")
            if (
                Path(os.fsdecode(words[0])).name == "league"
                and os.fsencode(records) in words
            ):
                variables = dict(
                    v.split(b"=", 1)
                    for v in (place / "environ").read_bytes().split(b"\0")
                    if b"=" in v
                )
                found[int(variables[b"SLURM_PROCID"])] = int(place.name)
    return found


def test_ranks_compute_what_one_process_does(ranks, league, tmp_path):
    """Sums in the order of the shards: the same bits for as many shards."""
    saved, alone = tmp_path / "saved", tmp_path / "alone"
    done, output = ranks(ORDERED, "--wait", "--", "--save-results", saved)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = output / f"{NODES}x{RANKS}/0"
    cases, problems = merge.load([folder])
    assert not problems and {case.status for case in cases} == {"passed"}
    assert {case.devices for case in cases} == {RANKS * NODES}
    words = ["--devices", str(RANKS * NODES), "--set", "communicator=local"]
    subprocess.run(
        [
            league,
            "run",
            tmp_path / "study.toml",
            *words,
            "--records",
            tmp_path / "r",
            "--save-results",
            alone,
        ],
        check=True,
        capture_output=True,
    )
    one, many = hashes(alone), hashes(saved)
    assert one and sorted(one.values()) == sorted(many.values())


def test_a_killed_rank_ends_the_job_and_the_launch_goes_on(ranks):
    done, output = ranks(LONG)
    assert done.returncode == 0, done.stderr
    folder = output / f"{NODES}x{RANKS}/0"
    end = time.monotonic() + PATIENCE_S
    while not list(
        folder.glob("records/000-*.json")
    ):  # in the midst of the second case
        assert time.monotonic() < end, (folder.parent / "slurm-0.out").read_text()
        time.sleep(0.05)
    os.kill(league_processes(folder / "records")[RANKS * NODES - 1], signal.SIGKILL)
    killed = time.monotonic()
    while not (folder / "exit_code").exists():
        assert time.monotonic() < killed + PATIENCE_S, "the job goes on without a rank"
        time.sleep(0.2)
    assert int((folder / "exit_code").read_text()) != 0
    before = {path.name: path.read_bytes() for path in folder.glob("records/0*.json")}
    assert 0 < len(before) < CASES
    done = submit("--resume", output, "--wait")
    assert done.returncode == 0, done.stdout + done.stderr
    cases, problems = merge.load([folder])
    assert not problems and len(cases) == CASES
    assert {case.status for case in cases} == {"passed"}
    for name, content in before.items():
        assert (folder / "records" / name).read_bytes() == content
    assert (output / "report/index.html").exists()
