# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows: ratios, bounds, rates and what is said of rows without figures."""

import pytest

from bench.report.cells import every_case
from bench.report.scaling import scalings, texts
from bench.report.table import record
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
def test_ratio_is_portable_over_native(entry, rows_of, native, expected):
    rows = rows_of([entry("kokkos", times(1e-3)), entry("cuda", times(native))])
    row = by(rows, "kokkos")
    assert row.ratio.value == pytest.approx(1e-3 / native)
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
    assert host == pytest.approx(2 / 3) and gpu == pytest.approx(1 / 2)


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
    assert by(rows, "kokkos").ratio.value == pytest.approx(1 / 0.9)
    best = by(rows, "kokkos", "team=64")
    assert best.ratio.value == pytest.approx(0.8 / 0.96)
    assert best.note == "best with best 1.11: cuda team=128"


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
    assert best.ratio.value == pytest.approx(0.8 / 0.9)
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
    assert found["auto"].ratio.value == pytest.approx(2 / 1)
    assert found["auto, nccl"].ratio.value == pytest.approx(4 / 3)
    assert [cells["launch"] for cells in groups(rows)[0].rows] == [
        "auto",
        "auto, nccl",
    ] * 2
    rows = rows_of([cases[1], cases[2]])
    assert by(rows, "kokkos").ratio.note == "best with best: cuda auto"


def test_one_gpu_is_the_base_of_all_communicators(entry, rows_of):
    one = entry("cuda", times(8e-3), latency_s=8e-3)
    rows = rows_of([one, *engines(entry, "cuda", 4e-3, 5e-3)])
    text = "strong scaling of vector_add wide cuda f32 n=2^28"
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


@pytest.mark.parametrize(
    "model, devices, expected",
    [
        ("cuda", 1, ""),  # one kernel after the other: tracing them costs
        ("openmp", 1, ""),
        ("openmp", 2, ""),  # devices of a host run in turn
        ("cuda", 2, "overlap: 0.50 of the sum of its stages"),
    ],
)
def test_overlap_takes_several_devices_or_copies(
    entry, rows_of, model, devices, expected
):
    stages = {"accumulate": 0.9, "update": 0.5}
    (row,) = rows_of([entry(model, [0.7] * 6, stages=stages, devices=devices)])
    assert row.note == expected


@pytest.mark.parametrize(
    "change, words",
    [
        ({"metric": "host_time"}, "cuda has host time, kokkos device time"),
        ({"status": "failed", "samples": []}, "cuda failed"),
        ({"device_name": "NVIDIA A100"}, ""),  # another machine: no ratio is due
        ({"dtype": "f64", "name": "vector_add/dtype:f64"}, ""),
    ],
)
def test_why_there_is_no_ratio_is_said(entry, rows_of, change, words):
    other = {**entry("cuda", times(1e-3)), **change}
    row = by(rows_of([entry("kokkos", times(1e-3)), other]), "kokkos")
    assert row.ratio is None
    assert row.note == (f"no ratio: {words}" if words else "")


def test_builds_are_not_compared_and_that_is_said(entry, save):
    from bench.report.merge import load
    from bench.report.rows import build_rows

    a = save([entry("kokkos", times(1e-3))], folder="a", git="one")
    b = save([entry("cuda", times(1e-3))], folder="b", git="two")
    row = by(build_rows(load([a, b])[0], 0.02), "kokkos")
    assert row.ratio is None and row.note == "no ratio: cuda is of another build"


def test_the_latency_is_one_figure_in_every_table(entry, all_rows):
    (row,) = all_rows(
        ("1", [entry("kokkos", STEADY, latency_s=2.0)]),
        ("2", [entry("kokkos", STEADY, latency_s=4.0)]),
    )
    (line,) = every_case([row])
    shown = line.cells["latency"]
    assert (row.latency, shown.text, shown.value) == (3.0, "3.000 s", 3.0)
    assert record(row)["latency_s"] == "3"


def test_each_portable_model_has_its_own_ratio(entry, rows_of):
    made = [
        entry("kokkos", times(4e-3)),
        entry("kokkos_specialised", times(3e-3), kind="gpu"),
        entry("cuda", times(2e-3)),
    ]
    found = {r.case.model: r.ratio.value for r in rows_of(made) if r.ratio}
    assert found == {
        "kokkos": pytest.approx(4 / 2),
        "kokkos_specialised": pytest.approx(3 / 2),
    }
