# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Roofline bounds at measured ceilings, by hand."""

import pytest

from bench.report.table import record
from bench.report.view import groups


def ceiling(entry, method, time, model="cuda", dtype="f32", **changes):
    n = changes.pop("n", 2**28)
    cost = {"bytes": 8.0 * n, "operations": 0}
    if method in ("multiply_add", "tensor"):
        cost = {"bytes": 0, "operations": 1e12}
    extra = {"algorithm": "ceilings", "method": method, "cost": cost, "dtype": dtype}
    extra["unit"] = changes.pop("unit", dtype)
    return entry(model, [time] * 6, n=n, **extra, **changes)


def test_floor_is_the_longer_of_bytes_and_operations(entry, rows_of):
    gigabyte = {"bytes": 1e9, "operations": 1e9}
    busy = {"bytes": 1e9, "operations": 1e12}
    rows = rows_of(
        [
            ceiling(entry, "copy", 1.0e-3),
            ceiling(entry, "read", 0.5e-3, "kokkos"),  # best: 2^31 bytes in 0.5 ms
            ceiling(entry, "multiply_add", 0.02),  # 50 T/s
            ceiling(entry, "multiply_add", 0.04, dtype="f64"),  # 25 T/s
            entry("cuda", [1e-3] * 6, cost=gigabyte),
            entry("cuda", [0.1] * 6, cost=busy, method="busy"),
            entry("cuda", [0.1] * 6, cost=busy, method="double", unit="f64"),
            entry("cuda", [0.1] * 6, cost=busy, method="two", devices=2),
        ]
    )
    row = {r.case.method: r for r in rows}
    assert row["read"].floor_ratio == pytest.approx(1)
    assert row["copy"].floor_ratio == pytest.approx(2)
    assert row["wide"].floor_ratio == pytest.approx(1e-3 / (1e9 / (2**31 / 0.5e-3)))
    assert (row["wide"].rate, row["wide"].rate_unit) == (pytest.approx(1000), "GB/s")
    assert row["busy"].floor_ratio == pytest.approx(5)
    assert (row["busy"].rate, row["busy"].rate_unit) == (pytest.approx(1e4), "GFLOP/s")
    assert row["double"].floor_ratio == pytest.approx(2.5)
    assert row["two"].floor_ratio == pytest.approx(10)


def test_floors_rest_on_constant_operands(entry, rows_of):
    constant, random = ({"operands": name} for name in ("constant", "random"))
    tensor = {"method": "tensor", "time": 0.02, "unit": "f16 tensor", "dtype": "f16"}
    faster = {**tensor, "time": 0.018, "name": "random"}
    work = {"bytes": 0, "operations": 1e12}
    rows = rows_of(
        [
            ceiling(entry, **tensor, parameters=constant),
            ceiling(entry, **faster, parameters=random),
            entry("cuda", [0.04] * 6, cost=work, unit="f16 tensor"),
        ]
    )
    ratios = {
        r.case.parameters.get("operands", r.case.method): r.floor_ratio for r in rows
    }
    assert ratios == pytest.approx({"constant": 1, "random": 0.9, "wide": 2})


def test_host_devices_share_the_ceilings_of_their_cpu(entry, rows_of):
    rows = rows_of(
        [
            ceiling(entry, "copy", 0.1, "openmp"),
            entry("openmp", [0.2] * 6, cost={"bytes": 2**31}, devices=3),
        ]
    )
    assert rows[-1].floor_ratio == pytest.approx(2)


def test_no_floor_without_ceilings_of_the_same_device(entry, rows_of):
    other = ceiling(entry, "copy", 1e-3, device_name="NVIDIA A100")
    rows = rows_of([other, entry("cuda", [1e-3] * 6)])
    assert rows[-1].floor_ratio is None and rows[-1].rate_unit == "GB/s"


def test_a_unit_without_ceiling_gets_a_floor_only_where_bytes_bind(entry, rows_of):
    busy = {"bytes": 1e6, "operations": 1e12}
    rows = rows_of(
        [
            ceiling(entry, "copy", 1.0e-3),
            ceiling(entry, "multiply_add", 0.02),
            entry("cuda", [9e-3] * 6, unit="i32"),
            entry("cuda", [0.1] * 6, unit="u8", cost=busy, method="busy"),
        ]
    )
    row = {r.case.method: r for r in rows}
    assert row["wide"].floor_ratio and not row["wide"].note
    assert row["busy"].floor_ratio is None and "no u8 ceiling" in row["busy"].note


def test_data_in_cache_are_marked_and_make_no_ceiling(entry, rows_of):
    small, large = 2**20, 2**28
    rows = rows_of(
        [
            ceiling(entry, "copy", 1e-6, n=small),
            ceiling(entry, "read", 1e-3, n=large),
            entry("cuda", [1e-6] * 6, n=small),
            entry("cuda", [9e-3] * 6, n=large),
        ]
    )
    row = {(r.case.algorithm, r.case.sizes["n"]): r for r in rows}
    assert row["vector_add", small].limit == "in cache"
    assert row["vector_add", small].roofline_share is None
    assert row["vector_add", large].limit == "roofline"
    titles = [group.title for group in groups(rows)]
    assert len(titles) == 1 and titles[0].endswith(", data in cache")
    assert row["vector_add", small].note == "no bandwidth measured at 12.6 MB"
    noted = [line["note"] for line in map(record, rows)]
    assert sum(note.startswith("in cache") for note in noted) == 2  # for machines
    assert row["ceilings", large].floor_ratio == pytest.approx(1)


def test_a_row_under_its_floor_says_so(entry, rows_of):
    cost = {"bytes": 8.0 * 2**28, "operations": 0}
    rows = rows_of(
        [
            ceiling(entry, "copy", 1.0e-3),
            entry("pytorch", [0.98e-3] * 6, cost=cost, method="under"),
            entry("pytorch", [0.995e-3] * 6, cost=cost, method="at"),
        ]
    )
    notes = {row.case.method: row.note for row in rows}
    assert notes["under"] == "faster than the ceilings measured"
    assert notes["at"] == ""


def test_two_floors_where_a_better_unit_could_solve_the_problem(entry, rows_of):
    busy = {"bytes": 0, "operations": 1e12}
    rows = rows_of(
        [
            ceiling(entry, "multiply_add", 0.02),  # 50 T/s
            ceiling(entry, "tensor", 0.002, unit="tf32 tensor", n=1),  # 500 T/s below
            entry("cuda", [0.1] * 6, cost=busy, best_unit="tf32 tensor", method="a"),
            entry("cuda", [0.1] * 6, cost=busy, best_unit="f32", method="b"),
            entry("cuda", [0.1] * 6, cost=busy, best_unit="bf16 tensor", method="c"),
        ]
    )
    row = {r.case.method: r for r in rows}
    assert row["a"].floor_ratio == pytest.approx(5)
    assert row["a"].best_floor_ratio == pytest.approx(50)
    assert row["b"].best_floor_ratio == pytest.approx(5)
    assert row["c"].best_floor_ratio is None  # no such ceiling was measured
    cells = {
        r["method"]: r["% of roofline"] for group in groups(rows) for r in group.rows
    }
    assert (cells["a"], cells["b"], cells["c"]) == ("20 % (2 %)", "20 %", "20 %")


def test_tensor_cores_do_not_make_bytes_bind(entry, rows_of):
    """1e9 bytes take 1 ms; 1e11 operations 10 ms at f32, 0.1 ms on tensor cores."""
    cost = {"bytes": 1e9, "operations": 1e11}
    rows = rows_of(
        [
            ceiling(entry, "copy", 8 * 2**28 / 1e12),  # 1 TB/s
            ceiling(entry, "multiply_add", 0.1),  # 10 T/s
            ceiling(entry, "tensor", 0.001, unit="bf16 tensor", n=1),
            entry("cuda", [0.1] * 6, cost=cost, unit="i32", method="none"),
            entry("cuda", [0.1] * 6, cost=cost, unit="f32", method="f32"),
            entry("cuda", [0.1] * 6, cost=cost, unit="bf16 tensor", method="bf16"),
        ]
    )
    row = {r.case.method: r for r in rows}
    assert row["none"].floor_ratio is None and "no i32 ceiling" in row["none"].note
    assert row["f32"].floor_ratio == pytest.approx(10)
    assert row["bf16"].floor_ratio == pytest.approx(100)
