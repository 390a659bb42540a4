# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The factors of the gap, by hand."""

from dataclasses import replace
from math import log, prod
from pathlib import Path

import pytest

from bench.report.factors import FACTORS, JOINT, WHOLE
from bench.report.gap_texts import COLUMNS, cells, left_out, texts
from bench.report.gaps import gaps
from bench.report.published_records import resident

RESULTS = Path(__file__).parents[2] / "bench" / "results"
STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


def times(middle):
    return [middle * factor for factor in STEADY]


@pytest.fixture
def study(entry):
    """Kokkos 12 ms by default and 8 searched, CUDA 6 and 5, a method 4, matrix units 3, a library 2, a peer 1."""
    return [
        entry("kokkos", times(12e-3)),
        entry("kokkos", times(8e-3), "team=64"),
        entry("kokkos", times(13e-3), method="plain"),
        entry("kokkos", times(7e-3), "team=64", method="plain"),
        entry("cuda", times(6e-3)),
        entry("cuda", times(5e-3), "team=128"),
        entry("cuda", times(4e-3), method="plain"),
        entry("cuda", times(3e-3), method="mma"),
        entry("cub", times(2e-3), method="transform"),
        entry("pytorch", times(1e-3), method="library", kind="gpu"),
    ]


def values(gap, names=FACTORS):
    """The factors that are known."""
    known = {name: one.value for name, one in gap.factors.items() if name in names}
    return {name: pytest.approx(value) for name, value in known.items()}


def only(rows):
    (gap,) = gaps(rows)
    return gap


def test_factors(study, rows_of):
    gap = only(rows_of(study))
    expected = (12 / 8, 8 / 5, 5 / 4, 4 / 3, 3 / 1)
    assert values(gap) == dict(zip(FACTORS, expected))
    assert gap.whole.value == pytest.approx(12) and gap.blank.keys() == {
        *("flat cost, default", "flat cost, searched", "launch layer", "recovered")
    }
    assert gap.once.case.method == "wide", "the fastest at its default launch"
    assert (gap.once.case.launch, gap.native.case.launch) == ("team=64", "team=128")
    assert gap.best is gap.library and gap.best.case.model == "pytorch"
    assert gap.title == "vector_add f32 n=2^28"
    for factor in gap.factors.values():
        assert factor.low <= factor.value <= factor.high


def test_product_holds_over_the_launches_that_all_share(study, entry, all_rows):
    # in the second launch kokkos alone was run, and was slow
    slow = (("wide", 90e-3), ("plain", 99e-3))
    alone = [entry("kokkos", times(time), method=method) for method, time in slow]
    gap = only(all_rows(("1", study), ("2", alone)))
    assert values(gap)["language"] == 8 / 5 and gap.whole.value == pytest.approx(12)
    assert prod(gap.factors[name].value for name in FACTORS) == pytest.approx(12)


def test_every_product_over_the_published_records_holds():
    """Where all factors are known they give the whole gap, and knn of MNIST would read 22.7, not 1.71."""
    for folder in ("h200", "h100"):
        rows = resident(RESULTS / folder)
        as_once = [replace(row, case=replace(row.case, bodies="one")) for row in rows]
        found = gaps(as_once)
        whole = {g.title: g for g in found if g.whole and not blank(g)}
        assert len(whole) > 25
        for gap in whole.values():
            total = sum(log(one.value) for one in gap.parts.values())
            assert log(gap.whole.value) == pytest.approx(total, abs=1e-12), gap.title
        if folder == "h200":
            knn = whole["knn f32 train=52,500 test=17,500"]
            assert [f"{knn.factors[name].value:.3g}" for name in (WHOLE, *FACTORS)] == [
                *("22.7", "1", "0.992", "1", "22.9", "1")
            ]
            assert f"{knn.beside['recovered']:.2f}" == "0.83"
            assert knn.once.case.method == "fused" and knn.special.case.method == "mma"


def test_kernels_of_records_that_do_not_tell_have_several_bodies():
    """The published ones: their times stay, and nothing is called written once."""
    found = gaps(resident(RESULTS / "h200"))
    assert not any(gap.once or gap.whole for gap in found)
    knn = {g.title: g for g in found}["knn f32 train=52,500 test=17,500"]
    assert knn.several.case.method == "fused" and knn.row is knn.several
    assert knn.native.case.model == "cuda" and knn.native.case.method == "fused"
    reason = "no written-once kernel: kokkos has several bodies"
    assert knn.blank[WHOLE] == knn.blank["tuning"] == knn.blank["language"] == reason
    assert knn.blank["recovered"] == knn.blank["flat cost, default"] == reason
    assert knn.factors.keys() == {"reach", "library"}, "of natives"
    assert any(line.startswith(reason) for line in left_out(found))


def blank(gap):
    """The factors that are missing."""
    return gap.blank.keys() & {WHOLE, *FACTORS, JOINT}


def test_ratio_is_over_all_launches_that_kokkos_and_native_share(entry, all_rows):
    """Medians 4 and 3 in the launch with the peer, 6 and 3 in the other: 5 and 3 over both."""
    first = [
        entry("kokkos", times(4e-3)),
        entry("cuda", times(3e-3)),
        entry("triton", times(1e-3), method="fused"),
    ]
    second = [entry("kokkos", times(6e-3)), entry("cuda", times(3e-3))]
    gap = only(all_rows(("1", first), ("2", second)))
    assert values(gap) == {"language": 4 / 3, "method": 1, "reach": 1, "library": 3}
    middle = (4e-3 * STEADY[-1] + 6e-3 * STEADY[0]) / 2
    assert gap.ratio.value == pytest.approx(middle / 3e-3)
    assert gap.ratio.low < 4.5 / 3 and gap.ratio.high > 5.5 / 3


def test_no_shared_launch_gives_no_interval(entry, all_rows):
    kokkos, cuda = [entry("kokkos", times(3e-3))], [entry("cuda", times(2e-3))]
    gap = only(all_rows(("1", kokkos), ("2", cuda)))
    assert gap.whole.value == pytest.approx(1.5) and gap.whole.low is None
    assert "tuning" not in gap.factors and gap.blank["tuning"] == "one launch measured"


def test_without_a_default_launch_there_is_no_tuning_and_no_whole(entry, rows_of):
    rows = [entry("kokkos", times(3e-3), "team=64", source="explicit")]
    gap = only(rows_of([*rows, entry("cuda", times(2e-3))]))
    assert gap.blank["tuning"] == gap.blank[WHOLE] == "no default launch measured"
    assert values(gap)["language"] == 1.5 and gap.default is None
    (line,) = texts([gap])
    assert line.endswith("1 left out: no default launch measured")


def test_without_a_native_of_the_method_two_factors_are_one_and_named_so(
    entry, rows_of
):
    """Never two factors of which one is 1."""
    made = [
        entry("kokkos", times(3e-3), method="one_stage"),
        entry("cuda", times(2e-3), method="two_stage"),
        entry("cub", times(1e-3), method="reduce"),
    ]
    gap = only(rows_of(made))
    assert values(gap, (JOINT, *FACTORS)) == {JOINT: 1.5, "reach": 1, "library": 2}
    assert (
        gap.blank["language"] == gap.blank["method"] == "no comparable native one_stage"
    )
    (line,) = cells([gap])
    language = line[COLUMNS.index("language")]
    assert language.startswith("1.500 [") and language.endswith(JOINT)
    assert line[COLUMNS.index("method")] == ""
    assert f"3.000 = {JOINT} 1.500 x reach 1.000 x library 2.000" in texts([gap])[0]


def test_where_all_natives_are_beyond_the_reach_nothing_is_said_of_method_and_reach(
    entry, rows_of
):
    made = [
        entry("kokkos", times(3e-3)),
        entry("cuda", times(2e-3), method="mma"),
    ]
    gap = only(rows_of(made))
    assert values(gap, (JOINT, *FACTORS)) == {"library": 1}
    assert (
        gap.blank["reach"]
        == gap.blank[JOINT]
        == "no comparable native that Kokkos' API reaches"
    )
    assert gap.whole.value == 1.5, "the whole gap holds"


def test_without_any_native_there_is_the_whole_gap_alone(entry, rows_of):
    made = [
        entry("kokkos", times(3e-3)),
        entry("pytorch", times(2e-3), method="library", kind="gpu"),
    ]
    gap = only(rows_of(made))
    assert gap.whole.value == 1.5 and gap.parts == {}
    assert gap.blank["library"] == "no comparable native"


def test_a_method_with_a_kokkos_kernel_is_within_the_reach(entry, rows_of):
    """Whatever its name says."""
    made = [
        entry(model, times(time), method="cluster_of_points")
        for model, time in (("kokkos", 3e-3), ("cuda", 2e-3))
    ]
    gap = only(rows_of(made))
    assert values(gap) == {"language": 1.5, "method": 1, "reach": 1, "library": 1}


def test_clusters_are_reach(entry, rows_of):
    made = [
        entry("kokkos", times(6e-3), method="persistent"),
        entry("cuda", times(4e-3), method="persistent"),
        entry("cuda", times(2e-3), method="persistent_cluster"),
    ]
    gap = only(rows_of(made))
    assert values(gap) == {"language": 1.5, "method": 1, "reach": 2, "library": 1}


def test_the_best_of_all_may_be_kokkos(entry, rows_of):
    """Then the whole gap is 1, and what native lacks stands in the last factor."""
    made = [entry("kokkos", times(2e-3)), entry("cuda", times(3e-3))]
    gap = only(rows_of(made))
    assert gap.best is gap.once and gap.whole.value == 1
    assert values(gap)["language"] == 2 / 3 and values(gap)["library"] == 1.5


def test_a_precision_class_is_a_gap_of_its_own(entry, rows_of):
    """A product in bf16 does not win over f32."""
    made = [
        entry("kokkos", times(6e-3), method="direct"),
        entry("cuda", times(5e-3), method="direct"),
        entry(
            "kokkos_specialised",
            times(3e-3),
            method="tensor_bf16",
            kind="gpu",
            shared=True,
        ),
        entry("cuda", times(2e-3), method="tensor_bf16"),
        entry("cudnn", times(1e-3), method="layers_bf16"),
    ]
    f32, bf16 = gaps(rows_of(made))
    assert f32.whole.value == pytest.approx(6 / 5) and f32.special is None
    assert bf16.title == "vector_add f32 n=2^28, products in bf16"
    assert bf16.once is None and bf16.whole is None
    assert bf16.blank[WHOLE] == "no kokkos kernel of this precision class"
    assert values(bf16) == {"library": 2}
    assert bf16.beside["launch layer"] == pytest.approx(3 / 2)


def test_host_natives_are_openmp_and_serial_is_another_method(entry, rows_of):
    rows = rows_of(
        [
            entry("kokkos", times(6e-3), kind="host", device_name="Intel Xeon"),
            entry("openmp", times(4e-3)),
            entry("serial", times(2e-3)),
            entry("cuda", times(1e-3)),
        ]
    )
    gap = only(rows)
    assert values(gap) == {"language": 1.5, "method": 2, "reach": 1, "library": 1}
    assert gap.device == "Intel Xeon" and gap.whole.value == pytest.approx(3)


@pytest.mark.parametrize(
    "change",
    [{"metric": "host_time"}, {"dtype": "f64"}, {"status": "failed"}, {"null": True}],
)
def test_what_does_not_compare_makes_no_gap(entry, rows_of, change):
    other = entry("cuda", times(1e-3), **change)
    assert gaps(rows_of([entry("kokkos", times(1e-3)), other])) == []
