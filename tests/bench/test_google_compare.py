# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Google Benchmark's own compare.py reads records of this build, one by one and merged."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEAGUE = ROOT / "build/openmp/league"
TOOLS = Path("/usr/share/benchmark")  # of Debian's libbenchmark-tools
STUDY = """
samples = 6
null = false
algorithm = "vector_add"
methods = ["plain", "wide"]
models = ["serial", "openmp"]
sizes = [1000, 4099]
"""
pytestmark = [
    pytest.mark.skipif(not LEAGUE.exists(), reason="no build/openmp/league"),
    pytest.mark.skipif(
        not (TOOLS / "compare.py").exists(), reason="no libbenchmark-tools"
    ),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """The records of a small study, and all of them merged."""
    folder = tmp_path_factory.mktemp("compare")
    study = folder / "study.toml"
    study.write_text(STUDY)
    command = [LEAGUE, "run", study, "--records", folder / "records"]
    merged = folder / "merged.json"
    subprocess.run(
        [*command, f"--benchmark_out={merged}"], check=True, capture_output=True
    )
    return folder / "records", merged


def slower(record, into, factor):
    """A copy of a record all of whose times are longer."""
    whole = json.loads(record.read_text())
    for entry in whole["benchmarks"]:
        entry["real_time"] *= factor
        entry["cpu_time"] *= factor
    into.write_text(json.dumps(whole))
    return into


def compare(*files):
    """The rows that compare.py prints: name, relative change of the time, time of old and new."""
    done = subprocess.run(
        [sys.executable, TOOLS / "compare.py", "--no-color", "benchmarks", *files],
        env={**os.environ, "PYTHONPATH": str(TOOLS)},
        check=True,
        capture_output=True,
        text=True,
    )
    number = r"\s+([+-]?\d+(?:\.\d+)?)"
    row = re.compile(rf"^(\S+/\S+){number}{number}{number}{number}{number}{number}$")
    found = [row.match(line) for line in done.stdout.splitlines()]
    return {m[1]: (float(m[2]), float(m[4]), float(m[5])) for m in found if m}


def medians(record):
    """Median time of each case in nanoseconds, by name."""
    entries = json.loads(record.read_text())["benchmarks"]
    return {entry["name"]: entry["real_time"] for entry in entries}


@pytest.mark.parametrize("which", ["one record", "all records"])
def test_compare_sees_what_became_slower(run, tmp_path, which):
    records, merged = run
    old = merged if which == "all records" else min(records.glob("0*.json"))
    rows = compare(old, slower(old, tmp_path / "slower.json", 1.25))
    expected = medians(old)
    assert set(rows) == set(expected)
    for name, (change, before, after) in rows.items():
        assert change == pytest.approx(0.25, abs=1e-4)
        assert before == pytest.approx(expected[name], abs=1)
        assert after == pytest.approx(1.25 * expected[name], abs=2)
