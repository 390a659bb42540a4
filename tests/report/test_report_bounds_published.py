# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Over all published records: no time is below its bound."""

from pathlib import Path

import pytest

from bench.report.options import MARGIN
from bench.report.published_records import read

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"
FOLDERS = sorted(path.parent for path in RESULTS.rglob("records.jsonl.xz"))
ABOVE = 1.0005
#: (folder, algorithm, method, model, type) of rows above 100 % of their bound, and why
KNOWN = {
    ("h100", "distance_matrix", "direct", "cuda", "f32"): (
        "its stores are 0.2 % faster than those of `write`"
    ),
    ("h200", "ceilings", "tensor_hopper", "cuda", "f32"): (
        "random operands, 0.5 % faster than the constant ones that set the peak"
    ),
    ("h200-again", "ceilings", "tensor_hopper", "cuda", "f32"): "as in h200",
    ("h200-scaling-3", "collectives", "all_reduce", "cuda", "f32"): (
        "a null test, which sets no peak"
    ),
    ("h200-stream", "ceilings", "copy", "pytorch", "f32"): "a peer, which sets no peak",
    ("h200-stream", "ceilings", "copy", "pytorch", "f64"): "a peer, which sets no peak",
    ("xeon-16-cores", "knn", "fused", "kokkos", "f32"): (
        "1.3 % above the multiply-adds per second of `ceilings` on that host"
    ),
    ("xeon-16-cores", "polynomial_fit", "stepwise", "openmp", "f32"): (
        "2,000 parallel regions of 4.7 us each; `overheads` measured 4.9 us there"
    ),
}


def share(row):
    """The largest share of any of its bounds that a row reaches."""
    floors = (row.floor_ratio, row.best_floor_ratio)
    known = [1 / floor for floor in floors if floor]
    if row.limit in ("latency", "host link"):  # the method's roofline is no limit
        known = [1 / row.best_floor_ratio] if row.best_floor_ratio else []
    return max([*known, row.latency_share or 0.0])


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_no_published_time_is_below_its_bound(folder):
    _, rows = read(folder)
    assert not [row.reason for row in rows if row.case.impossible]
    above = {}
    for row in rows:
        if row.median is None or row.case.null or share(row) <= ABOVE:
            continue
        case = row.case
        key = (folder.name, case.algorithm, case.method, case.model, case.dtype)
        above[key] = max(share(row), above.get(key, 0.0))
    assert above.keys() <= KNOWN.keys()
    steps = {key for key in above if key[1] == "polynomial_fit"}
    assert all(above[key] <= 1 + MARGIN for key in above.keys() - steps)
    assert all(above[key] <= 1.05 for key in steps)


def test_a_peak_is_reached_by_the_kernels_that_do_only_its_work():
    """Out of the cache, on the GPUs of the published tables: the best of each at 85 to 100 % of its own bound."""
    for folder in ("h100", "h200"):
        _, rows = read(RESULTS / folder)
        best = {}
        for row in rows:
            case = row.case
            if case.algorithm == "ceilings" and not case.null and row.floor_ratio:
                what = case.method if case.operations < case.bytes else case.unit
                best[what] = max(1 / row.floor_ratio, best.get(what, 0.0))
        assert {"copy", "add", "read", "write", "f32", "f64", "u8 tensor"} <= set(best)
        assert all(0.85 <= one <= 1 + MARGIN for one in best.values()), best
