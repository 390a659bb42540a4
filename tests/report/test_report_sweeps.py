# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Crossovers over sizes, the small-size model, and CPU against GPU, by hand."""

import math

import numpy as np
import pytest

from bench.report import crossovers, sweeps
from bench.report.sweeps import first_level, small_size

STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


def times(middle):
    return [middle * factor for factor in STEADY]


def pair(entry, n, native, portable=1e-3, **changes):
    models = (("cuda", native), ("kokkos", portable))
    return [entry(model, times(time), n=n, **changes) for model, time in models]


@pytest.fixture
def sweep_of(entry, all_rows):
    """sweep_of({n: portable / native}) -> the one sweep."""

    def build(ratios):
        records = [("1", pair(entry, n, 1e-3 / value)) for n, value in ratios.items()]
        (found,) = sweeps.sweeps(all_rows(*records))
        return found

    return build


@pytest.mark.parametrize(
    "ratios, expected",
    [
        ({10: 2.0, 20: 1.04, 40: 1.25, 80: 1.03, 160: 0.8}, 80),  # a dip starts it anew
        ({10: 1.0, 20: 0.9, 40: 1.01}, 10),
        ({10: 1.0, 20: 0.9, 40: 1.1}, math.inf),
        ({10: 1.11, 20: 1 / 0.95000001, 40: 1}, 20),
    ],
)
def test_crossover_is_the_size_from_which_all_are_level(sweep_of, ratios, expected):
    found = sweep_of(ratios)
    assert found.crossover.value == expected
    assert [point.size for point in found.points] == sorted(ratios)
    values = [point.ratio.value for point in found.points]
    assert values == [pytest.approx(ratios[n]) for n in sorted(ratios)]
    assert found.crossover.low <= expected <= found.crossover.high


def test_problems_without_a_row_are_reported_and_in_no_sweep(entry, all_rows):
    def records(n, **changes):
        kokkos = entry("kokkos", times(1e-6), n=n, **changes)
        return ("1", [kokkos, *host_and_gpu(entry, n, 1e-6, 1e-5, **changes)])

    none = {"cost": {"bytes": 0, "operations": 0}}
    rows = all_rows(records(0, **none), *(records(n) for n in (1, 9, 80)))
    assert {row.sizes for row in rows} == {"n=0", "n=1", "n=9", "n=80"}
    (sweep,) = sweeps.sweeps(rows)
    assert [point.size for point in sweep.points] == [1, 9, 80]
    (crossover,) = crossovers.device_crossovers(rows)
    assert [point.size for point in crossover.points] == [1, 9, 80]


def test_interval_of_a_crossover(entry, all_rows):
    """At 20 the ratio is level in half of the resamples, elsewhere it is sure."""
    noisy = [1e-3 * (0.95 + 0.02 * (-1) ** i) for i in range(12)]
    middle = [entry("cuda", noisy, n=20), entry("kokkos", times(1e-3), n=20)]
    records = [pair(entry, 10, 0.5e-3), middle, pair(entry, 40, 1e-3)]
    (found,) = sweeps.sweeps(all_rows(*(("1", record) for record in records)))
    assert (found.crossover.low, found.crossover.high) == (20, 40)
    (text,) = sweeps.texts([found])
    assert text.endswith("(95 %: from a size between n = 20 and 40 on)")


def test_first_level():
    ratios = np.array([[2.0, 1.0, 1.0], [1.0, 1.0, 5.0]])  # two sizes, three samples
    assert list(first_level(ratios)) == [1, 0, 2]


def test_unlike_rows_are_no_sweep(entry, all_rows):
    records = [
        ("1", pair(entry, 10, 1e-3)),
        ("1", pair(entry, 20, 1e-3)),
        ("1", pair(entry, 40, 1e-3, dtype="f64")),
        ("1", pair(entry, 80, 1e-3, parameters={"seed": 2})),
        ("1", pair(entry, 160, 1e-3, metric="host_time")),
    ]
    assert sweeps.sweeps(all_rows(*records)) == []


def test_each_size_of_a_grid_has_its_sweeps(entry, all_rows):
    records = [
        ("1", [entry("kokkos", times(1e-3), sizes={"n": n, "dimension": d})])
        for n in (10, 20, 40)
        for d in (2, 3)
    ]
    found = sweeps.sweeps(all_rows(*records))
    assert [(s.size, len(s.points)) for s in found] == [("n", 3), ("n", 3)]
    assert {s.label for s in found} == {
        f"vector_add wide f32 dimension={d}, NVIDIA H200" for d in (2, 3)
    }
    assert all(s.crossover is None and s.points[0].native is None for s in found)


def test_small_size_model(entry, all_rows):
    """t = 5 us + 12 n / 3 TB/s: half of it is start-up at n = 1.25e6."""
    records = [
        ("1", [entry("kokkos", times(5e-6 + 12 * n / 3e12), n=n)])
        for n in (10**4, 10**5, 10**6, 10**7)
    ]
    (found,) = sweeps.sweeps(all_rows(*records))
    fit = found.portable_model
    assert fit.start == pytest.approx(5e-6) and fit.rate == pytest.approx(3e12)
    assert fit.half == pytest.approx(1.25e6) and fit.misfit < 1e-9
    (text,) = sweeps.texts([found])
    assert text.endswith("starting costs 5.000 us, most of the time below n = 1.25M")


def test_small_size_model_has_no_negative_start(entry, all_rows):
    records = [
        ("1", [entry("kokkos", times(1e-12 * n * n), n=n)]) for n in (10, 20, 40, 80)
    ]
    (found,) = sweeps.sweeps(all_rows(*records))
    assert found.portable_model.start == 0 and found.portable_model.misfit > 0.2
    assert sweeps.texts([found]) == []  # not told where it does not fit


def test_small_size_model_needs_four_sizes_and_one_unit(entry, all_rows):
    def rows(*sizes, **changes):
        return [
            (n, all_rows(("1", [entry("kokkos", times(1e-6 * n), n=n, **changes)]))[0])
            for n in sizes
        ]

    assert small_size(rows(1, 2, 3)) is None
    assert small_size(rows(1, 2, 3, 4)) is not None
    assert small_size(rows(1, 2, 3, 4, cost={"bytes": 0, "operations": 0})) is None
    assert small_size(rows(1, 2, 3, 4, cost={"bytes": 9, "operations": 0})) is None


def host_and_gpu(entry, n, cpu, gpu, **changes):
    device_time = 1e-9  # never compared with the CPU's clock: the latency is
    return [
        entry("openmp", times(cpu), n=n),
        entry("serial", times(9.0), n=n),
        entry("numpy", times(1e-9), n=n, kind="host"),
        entry("cuda", times(device_time), n=n, latency_s=gpu, **changes),
    ]


def test_device_crossover_is_interpolated_in_logarithms(entry, all_rows):
    """CPU / GPU: 1/4 at 100, 4 at 1600: level at sqrt(100 * 1600) = 400."""
    rows = all_rows(
        ("1", host_and_gpu(entry, 100, 1e-6, 4e-6)),
        ("1", host_and_gpu(entry, 1600, 16e-6, 4e-6)),
        ("1", host_and_gpu(entry, 3200, 32e-6, 4e-6)),
    )
    (found,) = crossovers.device_crossovers(rows)
    assert found.crossover.value == pytest.approx(400)
    assert (found.crossover.low, found.crossover.high) == (100, 1600)
    assert [point.size for point in found.points] == [100, 1600, 3200]
    first = found.points[0]
    assert (first.cpu.case.model, first.gpu.case.model) == ("openmp", "cuda")
    assert (first.cpu_time, first.gpu_time) == (pytest.approx(1e-6), 4e-6)
    (text,) = crossovers.texts([found])
    assert (
        "NVIDIA H200 is faster than Intel Xeon from about n = 400 on, measured at 100 and 1,600 "
        "(4.000 us against 32.00 us at n = 3,200)" in text
    )


@pytest.mark.parametrize(
    "gpu, words",
    [
        (1e-9, "at every size measured, n = 100 to 200"),
        (1, "at no size measured up to n = 200"),
    ],
)
def test_no_device_crossover(entry, all_rows, gpu, words):
    records = [("1", host_and_gpu(entry, n, 1e-3, gpu)) for n in (100, 200)]
    (found,) = crossovers.device_crossovers(all_rows(*records))
    assert found.crossover is None and words in crossovers.texts([found])[0]


def test_device_times_without_a_latency_are_not_compared(entry, all_rows):
    records = [("1", host_and_gpu(entry, n, 1e-3, None)) for n in (100, 200)]
    assert crossovers.device_crossovers(all_rows(*records)) == []
