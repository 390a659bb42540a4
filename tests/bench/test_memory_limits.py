# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory limits of a process: what does not fit is skipped, in a run as in a dry run."""

import contextlib
import json
import os
import resource
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEAGUE = ROOT / "build/openmp/league"
pytestmark = pytest.mark.skipif(not LEAGUE.exists(), reason="no build/openmp/league")

#: Fills 2^27 numbers: 537 MB on the device, and as many on the host.
STUDY = """algorithm = "vector_add"
methods = "fill"
models = ["openmp", "kokkos"]
sizes = 134217728
samples = 3
null = false
"""
TOO_FEW = 900_000_000  #: bytes for one of the two
NEEDS = "skipped: needs 537 MB, budget "


def league(folder, before, *options):
    study = folder / "study.toml"
    study.write_text(STUDY)
    return subprocess.run(
        [LEAGUE, "run", study, "--records", folder / "records", *options],
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=before,
    )


def expect_skipped(folder, before, limit):
    """Dry run and run skip all rows; the limit is said and recorded."""
    foreseen = league(folder, before, "--dry-run")
    assert foreseen.stdout.count(NEEDS) == 2, foreseen
    done = league(folder, before)
    assert done.returncode == 1 and done.stdout.count("needs 537 MB") == 2, done
    assert f"under {limit}" in done.stderr
    (record,) = folder.glob("records/0*.json")
    context = json.loads(record.read_text())["context"]
    assert any(f"under {limit}" in said for said in context["league"]["preflight"])


def test_host_and_device_share_the_memory(tmp_path):
    """A limit of data, above what either needs and below what both need."""

    def limit():
        resource.setrlimit(resource.RLIMIT_DATA, (TOO_FEW, TOO_FEW))

    expect_skipped(tmp_path, limit, "ulimit -d")


def test_the_address_space_is_a_limit(tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (TOO_FEW, TOO_FEW))

    expect_skipped(tmp_path, limit, "ulimit -v")


@pytest.fixture
def group():
    """A control group of TOO_FEW bytes: its folder, and the name of the limit."""
    for base, name in (
        ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
        ("/sys/fs/cgroup", "memory.max"),
    ):
        folder = Path(base) / f"league-test-{os.getpid()}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            if (folder / name).exists():
                (folder / name).write_text(str(TOO_FEW))
                yield folder, name
                folder.rmdir()
                return
            folder.rmdir()
    pytest.skip("control groups cannot be made here")


def test_a_control_group_is_a_limit(tmp_path, group):
    folder, name = group

    def enter():
        (folder / "cgroup.procs").write_text(str(os.getpid()))

    expect_skipped(tmp_path, enter, f"{name} of the control group")
