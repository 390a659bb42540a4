# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/cluster/submit by a Python that has its standard library and no packages."""

import os
import subprocess
import sys

import pytest
from cluster_support import ROOT, START

from bench.cluster.campaign import Campaign

SITE = 'gpus_per_node = 4\ncores_per_node = 64\nmax_time = "2:00:00"\n'


@pytest.fixture
def bare(tmp_path):
    """bare(arguments) runs it beside programs of these tests."""

    def run(*words):
        for name, text in (("league", 'echo "8 cases, about 10 min"'), ("squeue", "")):
            (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
            (tmp_path / name).chmod(0o755)
        command = [sys.executable, "-I", "-S", "-B", ROOT / "bench/cluster/submit"]
        return subprocess.run(
            list(map(str, [*command, *words])),
            env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_submitting_takes_the_standard_library_alone(bare, tmp_path):
    assert bare("--help").returncode == 0
    (tmp_path / "site.toml").write_text(SITE)
    words = ["--site", tmp_path / "site.toml", "--executable", tmp_path / "league"]
    done = bare(START, *words, "--output", tmp_path / "out", "--dry-run")
    assert done.returncode == 0 and "#SBATCH" in done.stdout, done.stderr


def test_reading_records_names_the_package_that_is_missing(bare, tmp_path):
    kept = Campaign("s.toml", "/opt/report/python", {"1x4": 1}, {"1x4": [1]})
    kept.save(tmp_path)
    done = bare("--status", tmp_path)
    assert done.returncode == 2
    assert "needs the Python package" in done.stderr
    assert "start it with /opt/report/python" in done.stderr
