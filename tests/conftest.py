# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the Python tests share: the project on the path, and synthetic records."""

import json
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
sys.dont_write_bytecode = True
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # programs run side by side


def pytest_collection_modifyitems(config, items):
    """Under pytest-xdist, one process runs a file: what its tests share is made once.

    All files of tests/cluster go to one, since they share a Slurm.
    """
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        group = item.path.parent if item.path.parent.name == "cluster" else item.path
        item.add_marker(pytest.mark.xdist_group(str(group)))


H200 = {"kind": "gpu", "index": 0, "name": "NVIDIA H200", "llc_bytes": 50 * 2**20}
XEON = {"kind": "host", "index": 0, "name": "Intel Xeon", "llc_bytes": 32 * 2**20}
KINDS = {
    "kokkos": "portable",
    "kokkos_specialised": "specialised",
    **dict.fromkeys(("cuda", "hip", "openmp"), "native"),
    "serial": "reference",
    **dict.fromkeys(("cub", "cublas", "cudnn", "onednn"), "library"),
    "kokkos_kernels": "portable_library",
}
NATIVE_HOST = {"serial", "openmp"}


def make_entry(model="kokkos", samples=(), launch="auto", kind=None, **changes):
    """One entry of `benchmarks`: 2^28 f32 sums on one H200 unless told otherwise."""
    kind = kind or ("host" if model in NATIVE_HOST else "gpu")
    status = changes.pop("status", "passed" if samples else "skipped")
    n = changes.pop("n", 2**28)
    entry = {
        "run_type": "iteration",
        "iterations": 1,
        "real_time": 0.0,
        "time_unit": "ns",
        "algorithm": "vector_add",
        "method": "wide",
        "execution": "stream",
        "model": model,
        "kind": KINDS.get(model, "peer"),
        "dtype": "f32",
        "sizes": {"n": n},
        "parameters": {"seed": 1},
        "devices": 1,
        "device_kind": kind,
        "device_name": (H200 if kind == "gpu" else XEON)["name"],
        "status": status,
        "reason": "" if samples else "no GPU",
        "metric": "device_time" if kind == "gpu" else "host_time",
        "samples": list(samples),
        "latency_s": None,
        "stages": {},
        "launch": {"requested": launch, "league": 0, "team": 256, "vector": 1},
        "batch": 1,
        "cost": {"bytes": 12 * n, "operations": n},
        "unit": "f32",
    }
    if model == "kokkos":  # written once unless told otherwise; None: untold
        entry["bodies"] = "one"
    entry.update(changes)
    if entry.get("bodies", "") is None:
        del entry["bodies"]
    entry["cost"] = {"written_bytes": 0, **entry["cost"]}  # as today's program counts
    sizes = "/".join(f"{key}:{value}" for key, value in entry["sizes"].items())
    entry["name"] = changes.get("name") or (
        f"{entry['algorithm']}/method:{entry['method']}/model:{model}"
        f"/dtype:{entry['dtype']}/{sizes}/devices:{entry['devices']}/launch:{launch}"
    )
    return entry


def make_record(entries, launch_id="1", devices=(H200, XEON), host="n1", **league):
    """A whole record file."""
    first = entries[0]
    comparison = f"{first['algorithm']}/dtype:{first['dtype']}/n:{first['sizes']}"
    context = {
        "git": "abc1234",
        "preset": "cuda-hopper90",
        "kokkos_version": "4.7.00",
        "study": "vector_add",
        "launch_id": launch_id,
        "devices": list(devices),
        "preflight": [],
        **league,
    }
    return {
        "schema": 2,
        "context": {
            "date": "2025-11-21T01:38:00+00:00",
            "host_name": host,
            "league": context,
        },
        "comparison": f"{comparison}/devices:{first['devices']}",
        "benchmarks": list(entries),
    }


@pytest.fixture
def entry():
    """The maker of entries."""
    return make_entry


@pytest.fixture
def save(tmp_path):
    """save(entries, ..., folder="a", file="x.json") writes a record, returns its DIR."""

    def write(entries, folder="a", file="record.json", **changes):
        records = tmp_path / folder / "records"
        records.mkdir(parents=True, exist_ok=True)
        text = json.dumps(make_record(entries, **changes))
        (records / file).write_text(text, encoding="utf-8")
        return tmp_path / folder

    return write


@pytest.fixture
def rows_of(save):
    """rows_of(entries, ...) -> rows of one record, with the usual margin."""

    def build(entries, **changes):
        from bench.report.merge import load
        from bench.report.rows import build_rows

        cases, problems = load([save(entries, **changes)])
        assert not problems
        return build_rows(cases, 0.02)

    return build


@pytest.fixture
def all_rows(save):
    """all_rows((launch id, entries), ...) -> rows of all these records together."""

    def build(*records):
        from bench.report.merge import load
        from bench.report.rows import build_rows

        folders = [
            save(entries, folder=f"{i}", launch_id=launch)
            for i, (launch, entries) in enumerate(records)
        ]
        cases, problems = load(folders)
        assert not problems
        return build_rows(cases, 0.02)

    return build
