# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures of the tests of bench/cluster: a stand-in for league, a small Slurm."""

import os
import subprocess
import sys

import pytest
import small_slurm
from cluster_support import LEAGUE, SITE


@pytest.fixture
def stand_in(tmp_path):
    """stand_in(text): a program that is started as league is."""

    def make(text):
        program = tmp_path / "league"
        program.write_text(f"#!/bin/bash\n{text}\n")
        program.chmod(0o755)
        return program

    return make


@pytest.fixture(scope="session")
def league():
    """The executable of the preset openmp."""
    if not LEAGUE.exists():
        pytest.skip("no build/openmp/league")
    return LEAGUE


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    """Two virtual nodes, n1 and n2, for all tests of the session; its folder."""
    if reason := small_slurm.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("slurm")
    with subprocess.Popen(
        [sys.executable, small_slurm.__file__, folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as cluster:
        try:
            said = cluster.stdout.readline()
            assert said == "ready\n", said or (folder / "slurmctld.log").read_text()
            os.environ["SLURM_CONF"] = f"{folder}/slurm.conf"
            yield folder
        finally:
            os.environ.pop("SLURM_CONF", None)
            cluster.stdin.close()


@pytest.fixture(scope="session")
def has_pmix(slurm):
    """Whether its jobs can have PMIx, whose library is a package of its own."""
    job = ["srun", "--mpi=pmix", "--ntasks=1", "true"]
    return subprocess.run(job, capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="session")
def site(has_pmix, tmp_path_factory):
    """The site file of the small Slurm; without PMIx its jobs of one rank need none."""
    if has_pmix:
        return SITE
    file = tmp_path_factory.mktemp("site") / "local.toml"
    file.write_text(SITE.read_text().replace('mpi = "pmix"', 'mpi = "none"'))
    return file
