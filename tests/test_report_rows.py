# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows: ratios, floors, rates and what is said of rows without figures."""

import pytest

from bench.report.scaling import scalings, texts
from bench.report.view import groups

STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


def times(middle):
    return [middle * factor for factor in STEADY]


def by(rows, model, launch="auto"):
    (row,) = [r for r in rows if (r.case.model, r.case.launch) == (model, launch)]
    return row


@pytest.mark.parametrize(
    "native, expected", [(1e-3, "same"), (1.2e-3, "faster"), (0.8e-3, "slower")]
)
def test_ratio_is_native_over_portable(entry, rows_of, native, expected):
    rows = rows_of([entry("kokkos", times(1e-3)), entry("cuda", times(native))])
    row = by(rows, "kokkos")
    assert row.ratio.value == pytest.approx(native / 1e-3)
    assert row.ratio.low <= row.ratio.value <= row.ratio.high
    assert row.verdict == expected
    assert by(rows, "cuda").ratio is None and by(rows, "cuda").verdict == ""


def test_each_kind_of_device_has_its_own_native(entry, rows_of):
    models = [
        entry("openmp", times(3e-2)),
        entry("serial", times(9e-2)),
        entry("kokkos", times(2e-2), kind="host", name="kokkos on the host"),
        entry("kokkos", times(1e-3)),
        entry("hip", times(2e-3)),
        entry("cub", times(1e-9)),
    ]
    rows = rows_of(models)
    host, gpu = [row.ratio.value for row in rows if row.case.model == "kokkos"]
    assert host == pytest.approx(1.5) and gpu == pytest.approx(2)


@pytest.mark.parametrize(
    "change",
    [
        {"method": "plain"},
        {"dtype": "f64"},
        {"n": 77},
        {"devices": 2},
        {"parameters": {"seed": 2}},
        {"metric": "makespan"},
        {"device_name": "NVIDIA A100"},
    ],
)
def test_unlike_cases_are_not_compared(entry, rows_of, change):
    other = entry("cuda", times(1e-3), **change)
    assert by(rows_of([entry("kokkos", times(1e-3)), other]), "kokkos").ratio is None


def test_equal_launches_are_compared_and_the_best_noted(entry, rows_of):
    rows = rows_of(
        [
            entry("kokkos", times(1.0e-3)),
            entry("kokkos", times(0.8e-3), "team=64"),
            entry("cuda", times(0.9e-3)),
            entry("cuda", times(0.72e-3), "team=128"),
            entry("cuda", times(0.96e-3), "team=64"),
        ]
    )
    assert by(rows, "kokkos").ratio.value == pytest.approx(0.9)
    best = by(rows, "kokkos", "team=64")
    assert best.ratio.value == pytest.approx(1.2)
    assert best.note == "best with best 0.9: cuda team=128"


def test_without_an_equal_launch_the_best_meets_the_best(entry, rows_of):
    rows = rows_of(
        [
            entry("kokkos", times(1.0e-3), "team=32"),
            entry("kokkos", times(0.8e-3), "team=64"),
            entry("cuda", times(0.9e-3)),
        ]
    )
    assert by(rows, "kokkos", "team=32").ratio is None
    best = by(rows, "kokkos", "team=64")
    assert best.ratio.value == pytest.approx(1.125)
    assert best.note == "best with best: cuda auto"


def engines(entry, model, local, nccl, **changes):
    """The same case on two GPUs, with either communicator."""
    what = {"devices": 2, "metric": "makespan", **changes}
    rows = [entry(model, times(local), communicator="local", **what)]
    names = [
        row["name"].replace("/launch", "/communicator:nccl/launch") for row in rows
    ]
    rows.append(entry(model, times(nccl), communicator="nccl", name=names[0], **what))
    return rows


def test_communicators_are_compared_like_launches(entry, rows_of):
    cases = engines(entry, "kokkos", 2e-3, 4e-3) + engines(entry, "cuda", 1e-3, 3e-3)
    rows = rows_of(cases)
    found = {row.case.setting: row for row in rows if row.case.model == "kokkos"}
    assert found["auto"].ratio.value == pytest.approx(0.5)
    assert found["auto, nccl"].ratio.value == pytest.approx(0.75)
    assert [cells["launch"] for cells in groups(rows)[0].rows] == [
        "auto",
        "auto, nccl",
    ] * 2
    rows = rows_of([cases[1], cases[2]])
    assert by(rows, "kokkos").ratio.note == "best with best: cuda auto"


def test_one_gpu_is_the_base_of_all_communicators(entry, rows_of):
    one = entry("cuda", times(8e-3), latency_s=8e-3)
    rows = rows_of([one, *engines(entry, "cuda", 4e-3, 5e-3)])
    text = "strong scaling of vector_add wide cuda f32 n=268435456"
    assert texts(scalings(rows)) == [
        f"{text}, NVIDIA H200: 2.00x on 2",
        f"{text} nccl, NVIDIA H200: 1.60x on 2",
    ]


def test_few_samples_show_a_range_and_no_verdict(entry, rows_of):
    rows = rows_of([entry("kokkos", [3.0, 3.1, 2.9]), entry("cuda", times(3.0))])
    row = by(rows, "kokkos")
    assert (row.median, row.low, row.high, row.verdict) == (3.0, None, None, "")
    assert row.reason == "3 samples, range 2.900 s .. 3.100 s"
    assert row.ratio.value == pytest.approx(1) and row.ratio.low is None
    assert by(rows, "cuda").low is not None


def test_skipped_and_failed_rows_keep_their_reason(entry, rows_of):
    failed = entry("cuda", status="failed", reason="row 7: 3 instead of 4")
    rows = rows_of([entry("kokkos", reason="no GPU"), failed])
    assert [(r.verdict, r.reason) for r in rows] == [
        ("skipped", "no GPU"),
        ("FAILED", "row 7: 3 instead of 4"),
    ]
    assert all(r.median is None and r.rate is None and r.ratio is None for r in rows)


def ceiling(entry, method, time, model="cuda", dtype="f32", **changes):
    n = changes.pop("n", 2**28)
    cost = {"bytes": 8.0 * n, "operations": 0}
    if method == "multiply_add":
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
            entry("cuda", [1e-3] * 6, unit="i32"),
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
            entry("cuda", [1e-3] * 6, n=large),
        ]
    )
    row = {(r.case.algorithm, r.case.sizes["n"]): r for r in rows}
    assert row["vector_add", small].note == "in cache"
    assert row["vector_add", large].note == ""
    assert row["ceilings", large].floor_ratio == pytest.approx(1)


def test_parameters_show_where_they_tell_rows_apart(entry, rows_of):
    rows = rows_of(
        [
            entry("cuda", times(1), parameters={"seed": 1, "memory": "device"}),
            entry(
                "cuda",
                times(1),
                parameters={"seed": 1, "memory": "unified"},
                name="vector_add/model:cuda/memory:unified",
            ),
        ]
    )
    assert {row.sizes for row in rows} == {
        "n=268435456 memory=device",
        "n=268435456 memory=unified",
    }


def test_overlapping_stages_are_stated(entry, rows_of):
    stages = {"upload": 9, "copy in": 0.6, "add": 0.1, "copy out": 0.3, "download": 9}
    (row,) = rows_of([entry("cuda", [0.7] * 6, stages=stages)])
    assert row.note == "overlap: 0.70 of the sum of its stages"
