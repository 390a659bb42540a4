# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Old records get the costs that today's program writes: published problems, run again."""

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench.report import costs
from bench.report.migrate.costs import recount
from bench.report.published_records import read
from bench.report.records import read_file
from bench.report.sources import record_files

ROOT = Path(__file__).resolve().parents[2]
LEAGUE = ROOT / "build/openmp/league"
RECORDS = ROOT / "bench/results/epyc-2-cores"
COSTS = (*costs.COUNTS, "unit", "best_unit")
STUDY = "quick.toml"  # small problems of every algorithm, whose records are published


def cost_of(case):
    """What is compared of a case."""
    return {key: getattr(case, key) for key in COSTS}


def written(tmp_path):
    """The cases that today's program writes for the study: one sample each."""
    output = tmp_path / "records"
    study = ROOT / "configs" / STUDY
    command = [LEAGUE, "run", study, "--set", "samples=1"]
    done = subprocess.run(
        [*command, "--records", output],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode in (0, 1), done.stderr[-2000:]
    found = {}
    for source in record_files(output):
        for case in read_file(source):
            found[case.name] = case
    return found


@pytest.mark.skipif(not LEAGUE.exists(), reason="no build/openmp/league")
def test_costs_are_those_that_the_program_writes(tmp_path):
    now = written(tmp_path)
    cases, _ = read(RECORDS)
    known = {case.name: case for case in cases if case.name in now}
    same = {
        name: case
        for name, case in known.items()
        if case.status == now[name].status == "passed"
    }
    algorithms = {case.algorithm for case in same.values()}
    assert {"vector_add", "distance_matrix", "knn", "polynomial_fit"} <= algorithms
    for name, case in same.items():
        assert cost_of(case) == pytest.approx(cost_of(now[name])), name


def gpu(algorithm, method, operations, bytes_=1e6, **changes):
    """The costs of today for an old row of a GPU, from the fields that matter."""
    row = {
        "algorithm": algorithm,
        "method": method,
        "kind": "native",
        "dtype": "f32",
        "device_kind": "gpu",
        "unit": "f32",
        "cost": {
            "bytes": bytes_,
            "method_bytes": bytes_,
            "operations": operations,
        },
        **changes,
    }
    found = recount(row, algorithm)
    units = {key: found[key] for key in ("unit", "best_unit")}
    return SimpleNamespace(**found["cost"], **units)


def test_units_of_a_gpu_take_the_products_that_they_need():
    points = {"n": 100, "dimension": 5}
    half, whole = 5.0 * 100 * 101, 2.0 * 5 * 100 * 100
    of = gpu("distance_matrix", "mma", whole, sizes=points, unit="f16 tensor")
    assert (of.operations, of.best_operations) == (half, 3 * half)
    assert (of.method_operations, of.best_unit) == (3 * whole, "f16 tensor")
    rows = {"train": 2000, "test": 500, "features": 30}
    given = {"sizes": rows, "parameters": {"k": 3, "steps": 10}, "best_unit": "f32"}
    of = gpu("knn", "wgmma", 1e9, unit="u8 tensor", **given)
    assert (of.unit, of.best_unit) == ("f16 tensor", "f16 tensor")
    assert of.written_bytes == 500 * (4 + 16 * 3)
    of = gpu("softmax_regression", "mma", 1e9, unit="u8 tensor", **given)
    assert (of.unit, of.best_unit) == ("tf32 tensor", "f16 tensor")
    assert (of.bytes, of.method_operations) == (2000 * (30 * 4 + 4), 3e9)


def test_the_network_counts_what_routing_needs():
    """By hand: conv1 twice; conv2 at 3 of 4 windows, 4 positions forwards and 2 backwards; dense at 3 of 8."""
    sizes = {"train": 60_000, "test": 10_000, "features": 784}
    parameters = {"network": "mnist", "task": "train", "steps": 1, "dropout": "on"}
    old = 2 * 64 * 35_782_656
    of = gpu("cnn", "direct", old, sizes=sizes, parameters=parameters)
    conv = 2 * 288 * 676 + 18_432 * 144 * 0.75 * 6
    dense = 3 * 0.5 * (0.75 * 128 * 9216 + 1280)
    assert of.operations == pytest.approx(2 * 64 * (conv + dense))
    assert (of.method_operations, of.best_unit) == (old, "bf16 tensor")
    assert of.written_bytes == 3 * 4 * 1_199_882
