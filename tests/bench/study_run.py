# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a short study with league, and reads what it said before."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEAGUE = ROOT / "build/openmp/league"
STUDY = """algorithm = "vector_add"
methods = "plain"
models = "serial"
sizes = 1000
samples = 3
null = false
"""
BOUND = {"OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}
is_built = pytest.mark.skipif(not LEAGUE.exists(), reason="no build/openmp/league")


def league(folder, *options, variables=None, enter=None, before=(), study=None, **how):
    """The study in `folder`, its records beside it, under the words of `before`."""
    written = folder / "study.toml"
    written.write_text(STUDY)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_"))}
    return subprocess.run(
        [
            *before,
            LEAGUE,
            "run",
            study or written,
            "--records",
            folder / "records",
            *options,
        ],
        check=False,
        text=True,
        env={**kept, **(variables or {})},
        preexec_fn=enter,
        **{"capture_output": True, **how},
    )


def preflight_of(done, folder):
    """The sentences of a run, which are those of its record."""
    assert done.returncode == 0, done.stderr
    start = "league: preflight: "
    said = [line for line in done.stderr.splitlines() if line.startswith(start)]
    (record,) = folder.glob("records/0*.json")
    context = json.loads(record.read_text())["context"]["league"]
    assert context["preflight"] == [line.removeprefix(start) for line in said]
    return "\n".join(said)


def not_mixed(folder, what="the environment is another one", **options):
    """Whether a run that goes on refuses to, for this reason."""
    done = league(folder, "--resume", **options)
    return done.returncode == 2 and what in done.stderr
