# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of ranks share: mpirun -n N league on this machine."""

import json
import os
import shutil
import subprocess

import pytest
from cluster_support import LEAGUE

with_mpi = pytest.mark.skipif(
    shutil.which("mpirun") is None or not (LEAGUE.parent / "libleague_mpi.so").exists(),
    reason="no mpirun, or a build without MPI",
)

ENVIRONMENT = {
    **os.environ,
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMP_NUM_THREADS": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def mpirun(ranks, *words, executable=LEAGUE, **variables):
    command = ["mpirun", "--oversubscribe", "-n", ranks, executable, *words]
    return subprocess.Popen(
        list(map(str, command)),
        env={**ENVIRONMENT, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finished(process, seconds=240):
    out, err = process.communicate(timeout=seconds)
    return process.returncode, out, err


def rows_of(records):
    return {
        row["name"]: row
        for file in sorted(records.glob("[0-9]*.json"))
        for row in json.loads(file.read_text())["benchmarks"]
    }
