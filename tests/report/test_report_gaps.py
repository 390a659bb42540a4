# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The factors of the gap, by hand."""

import pytest

from bench.report.gaps import COLUMNS, cells, gaps, geometric_mean, texts
from bench.report.statistics import Estimate

STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


def times(middle):
    return [middle * factor for factor in STEADY]


@pytest.fixture
def study(entry):
    """Kokkos 12 ms automatic and 8 tuned, CUDA 6 and 5, a method 4, a library 2, a peer 1."""
    return [
        entry("kokkos", times(12e-3)),
        entry("kokkos", times(8e-3), "team=64"),
        entry("cuda", times(6e-3)),
        entry("cuda", times(5e-3), "team=128"),
        entry("cuda", times(4e-3), method="plain"),
        entry("cub", times(2e-3), method="transform"),
        entry("pytorch", times(1e-3), method="library", kind="gpu"),
    ]


def values(gap):
    factors = (gap.tuning, gap.abstraction, gap.method, gap.whole)
    return [factor and pytest.approx(factor.value) for factor in factors]


def test_factors(study, rows_of):
    (gap,) = gaps(rows_of(study))
    assert values(gap) == [12 / 8, 8 / 5, 5 / 1, 12 / 1]
    assert gap.automatic.median == pytest.approx(12e-3)
    assert (gap.portable.case.launch, gap.native.case.launch) == ("team=64", "team=128")
    assert gap.best.case.model == "pytorch"  # peers are among all
    assert gap.title == "vector_add wide f32 n=2^28"
    for factor in (gap.tuning, gap.abstraction, gap.method, gap.whole):
        assert factor.low <= factor.value <= factor.high


def test_product_holds_over_the_launches_that_all_share(study, entry, all_rows):
    # in the second launch kokkos alone was run, and was slow
    alone = [entry("kokkos", times(99e-3))]
    (gap,) = gaps(all_rows(("1", study), ("2", alone)))
    assert values(gap) == [12 / 8, 8 / 5, 5 / 1, 12 / 1]
    product = gap.tuning.value * gap.abstraction.value * gap.method.value
    assert gap.whole.value == pytest.approx(product)


def test_ratio_is_over_all_launches_that_portable_and_native_share(entry, all_rows):
    """Medians 4 and 3 in the launch with the peer, 6 and 3 in the other: 5 and 3 over both."""
    first = [
        entry("kokkos", times(4e-3)),
        entry("cuda", times(3e-3)),
        entry("triton", times(1e-3), method="fused"),
    ]
    second = [entry("kokkos", times(6e-3)), entry("cuda", times(3e-3))]
    (gap,) = gaps(all_rows(("1", first), ("2", second)))
    assert values(gap) == [None, 4 / 3, 3 / 1, 4 / 1]
    middle = (4e-3 * STEADY[-1] + 6e-3 * STEADY[0]) / 2
    assert gap.ratio.value == pytest.approx(3e-3 / middle)
    assert gap.ratio.low < 3 / 5.5 and gap.ratio.high > 3 / 4.5


def test_no_shared_launch_gives_no_interval(entry, all_rows):
    kokkos, cuda = [entry("kokkos", times(3e-3))], [entry("cuda", times(2e-3))]
    (gap,) = gaps(all_rows(("1", kokkos), ("2", cuda)))
    assert gap.whole.value == pytest.approx(1.5) and gap.whole.low is None
    assert gap.tuning is None  # one launch: nothing is known of the tuning


def test_without_a_native_of_the_method_the_factors_are_none(entry, rows_of):
    rows = rows_of(
        [
            entry("kokkos", times(3e-3), method="range_reduce"),
            entry("cub", times(2e-3), method="reduce"),
        ]
    )
    (gap,) = gaps(rows)
    assert values(gap) == [None, None, None, 1.5]
    assert gap.native is None and texts([gap]) == []


def test_host_natives_are_openmp_and_serial_counts_among_all(entry, rows_of):
    rows = rows_of(
        [
            entry("kokkos", times(6e-3), kind="host", device_name="Intel Xeon"),
            entry("openmp", times(4e-3)),
            entry("serial", times(2e-3)),
            entry("cuda", times(1e-3)),
        ]
    )
    (gap,) = gaps(rows)
    assert values(gap) == [None, 1.5, 2, 3]
    assert gap.device == "Intel Xeon"


@pytest.mark.parametrize(
    "change",
    [{"metric": "host_time"}, {"dtype": "f64"}, {"status": "failed"}, {"null": True}],
)
def test_what_does_not_compare_makes_no_gap(entry, rows_of, change):
    other = entry("cuda", times(1e-3), **change)
    assert gaps(rows_of([entry("kokkos", times(1e-3)), other])) == []


def test_one_method_leads(entry, rows_of):
    rows = rows_of(
        [
            entry(model, times(time), method=method)
            for model in ("kokkos", "cuda")
            for method, time in (("plain", 3e-3), ("wide", 2e-3))
        ]
    )
    assert {gap.variant: gap.leads for gap in gaps(rows)} == {
        "plain": False,
        "wide": True,
    }
    assert [line[0] for line in cells(gaps(rows))] == ["vector_add wide f32 n=2^28"]


def test_text_has_geometric_means(entry, all_rows):
    def both(n, time):
        return [entry("kokkos", times(time), n=n), entry("cuda", times(1e-3), n=n)]

    rows = all_rows(("1", both(1024, 2e-3)), ("1", both(2048, 8e-3)))
    (line,) = texts(gaps(rows))
    assert "gap of vector_add, NVIDIA H200: 4.000 = abstraction 4.000 x" in line
    assert "means of 2 problems; largest 8.000: wide f32 n=2,048" in line


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
    (line,) = texts(gaps(all_rows(*sure, *few)))
    assert "gap of vector_add, NVIDIA H200: 4.000 = abstraction 4.000 x" in line
    assert "(means of 2 problems; largest 8.000: wide f32 n=2,048; " in line
    assert line.endswith("; 2 problems without an interval left out)")


def test_without_any_interval_there_is_no_mean(entry, rows_of):
    rows = rows_of([entry("kokkos", [2e-3] * 5), entry("cuda", [1e-3] * 5)])
    (gap,) = gaps(rows)
    assert gap.whole.value == 2 and gap.whole.low is None
    text = "gap of vector_add, NVIDIA H200: no mean"
    assert texts([gap]) == [f"{text} (1 problem without an interval left out)"]


def test_geometric_mean():
    assert geometric_mean([2, 8]) == pytest.approx(4)
    assert geometric_mean([0.5, 2]) == pytest.approx(1)


def test_specialisation(study, entry, rows_of):
    """kokkos_blocks at 7 and 6 ms: its launch says nothing of the tuning."""
    blocks = [
        entry("kokkos_blocks", times(7e-3), kind="gpu"),
        entry("kokkos_blocks", times(6e-3), "team=64", kind="gpu"),
    ]
    (gap,) = gaps(rows_of([*study, *blocks]))
    assert gap.specialisation.value == pytest.approx(8 / 6)
    assert values(gap) == [12 / 8, 6 / 5, 5 / 1, 12 / 1]
    product = gap.tuning.value * gap.specialisation.value
    product *= gap.abstraction.value * gap.method.value
    assert gap.whole.value == pytest.approx(product)
    assert gap.ratio.value == pytest.approx(5 / 8)
    assert gap.blocks_ratio.value == pytest.approx(5 / 6)
    assert "specialisation 1.333" in texts([gap])[0]


def test_without_blocks_the_specialisation_is_one(study, rows_of):
    (gap,) = gaps(rows_of(study))
    assert gap.specialisation == Estimate(1.0, 1.0, 1.0)
    assert gap.blocks is None and gap.blocks_ratio is None
    assert "specialisation" not in texts([gap])[0]
    assert cells([gap])[0][COLUMNS.index("specialisation")] == "1"


def test_blocks_alone_are_the_portable_side(entry, rows_of):
    made = [
        entry("kokkos_blocks", times(3e-3), kind="gpu"),
        entry("cuda", times(2e-3)),
    ]
    (gap,) = gaps(rows_of(made))
    assert values(gap) == [None, 1.5, 1, 1.5]
    assert gap.portable.case.model == "kokkos_blocks" and gap.blocks is None
