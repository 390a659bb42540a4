# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gap as lines of text and as cells, by hand."""

import pytest

from bench.report.factors import FACTORS, geometric_mean
from bench.report.gap_texts import cells, texts
from bench.report.gaps import gaps
from bench.report.table import record

STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


def times(middle):
    return [middle * factor for factor in STEADY]


@pytest.fixture
def study(entry):
    """Kokkos 12 ms by default and 8 searched, CUDA 5, matrix units 4 in both, a library 1."""
    return [
        entry("kokkos", times(12e-3)),
        entry("kokkos", times(8e-3), "team=64"),
        entry("cuda", times(5e-3)),
        entry(
            "kokkos_specialised", times(4.4e-3), method="mma", kind="gpu", shared=True
        ),
        entry("cuda", times(4e-3), method="mma"),
        entry("cub", times(1e-3), method="transform"),
    ]


def test_text_has_geometric_means(entry, all_rows):
    def both(n, time):
        return [entry("kokkos", times(time), n=n), entry("cuda", times(1e-3), n=n)]

    rows = all_rows(("1", both(1024, 2e-3)), ("1", both(2048, 8e-3)))
    (line,) = texts(gaps(rows))
    assert "gap of vector_add, NVIDIA H200: 4.000 = language 4.000 x method 1" in line
    assert "means of 2 problems; largest 8.000: f32 n=2,048" in line


def test_means_are_over_problems_with_the_same_factors(study, entry, all_rows):
    """Else their product would not be the mean of the whole gaps."""
    few = [entry("kokkos", times(4e-3), n=8), entry("cuda", times(2e-3), n=8)]
    with_tuning, without = texts(gaps(all_rows(("1", study), ("1", few))))
    if "tuning" not in with_tuning:
        with_tuning, without = without, with_tuning
    assert "12.000 = tuning 1.500 x language 1.600 x method 1.000" in with_tuning
    assert without.endswith(
        "2.000 = language 2.000 x method 1.000 x reach 1.000 x library 1.000"
    )


def test_several_devices_are_named_and_have_means_of_their_own(entry, rows_of):
    """And so have the engines between them."""

    def both(devices, time, engine):
        more = {"devices": devices, "metric": "makespan", "communicator": engine}
        pair = [
            entry("kokkos", times(time), **more),
            entry("cuda", times(1e-3), **more),
        ]
        for one in pair:
            one["name"] += engine
        return pair

    rows = rows_of(
        [*both(1, 2e-3, ""), *both(2, 3e-3, "local"), *both(2, 5e-3, "nccl")]
    )
    found = gaps(rows)
    names = ["NVIDIA H200", "2 x NVIDIA H200", "2 x NVIDIA H200, nccl"]
    assert [line[1] for line in cells(found)] == names
    for name, mean, line in zip(names, ("2.000", "3.000", "5.000"), texts(found)):
        assert line.startswith(f"gap of vector_add, {name}: {mean} = ")


def test_means_leave_out_what_has_no_interval(entry, all_rows):
    def both(n, time, count):
        some = [1e-3 * time] * count
        return [entry("kokkos", some, n=n), entry("cuda", [1e-3] * count, n=n)]

    sure = [("1", both(1024, 2, 6)), ("1", both(2048, 8, 6))]
    few = [("1", both(4096, 100, 5)), ("1", both(8192, 100, 3))]
    line, out = texts(gaps(all_rows(*sure, *few)))
    assert "gap of vector_add, NVIDIA H200: 4.000 = language 4.000 x" in line
    assert line.endswith("(means of 2 problems; largest 8.000: f32 n=2,048)")
    assert out == "gap of vector_add, NVIDIA H200: 2 left out: without an interval"


def test_the_csv_has_the_gap_in_the_row_that_it_is_of(study, rows_of):
    (gap,) = gaps(rows_of(study))
    line = record(gap.once, gap)
    names = ("gap", *(f"gap_{name}" for name in FACTORS))
    told = [float(line[name]) for name in names]
    assert told == pytest.approx([12, 12 / 8, 8 / 5, 1, 5 / 4, 4])
    assert float(line["gap_launch_layer"]) == pytest.approx(1.1)
    assert float(line["gap_recovered"]) == pytest.approx(0.2875, abs=1e-4)
    assert line["gap_best"] == "cub transform"
    assert line["gap_flat_cost_default"] == line["gap_flat_cost_searched"] == ""
    assert line["gap_language_x_method"] == ""
    assert (
        line["gap_blank"] == "flat cost, default, flat cost, searched: no flat kernel"
    )
    assert (line["bodies"], line["shared"], line["numbers"]) == ("one", "", "")
    assert {record(gap.native)[name] for name in names} == {""}


def test_geometric_mean():
    assert geometric_mean([2, 8]) == pytest.approx(4)
    assert geometric_mean([0.5, 2]) == pytest.approx(1)
