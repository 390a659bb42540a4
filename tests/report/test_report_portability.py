# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Efficiencies, PP and the CSV for p3-analysis, by hand."""

import csv
import io
from dataclasses import replace

import pytest

from bench.report.p3 import COLUMNS, to_p3
from bench.report.portability import portability, score, texts

STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1
XEON, H200, A100 = "Intel Xeon", "NVIDIA H200", "NVIDIA A100"


def times(middle):
    return [middle * factor for factor in STEADY]


def ran(entry, model, device, middle, **changes):
    kind = "host" if device == XEON else "gpu"
    return entry(model, times(middle), kind=kind, device_name=device, **changes)


@pytest.fixture
def rows(entry, all_rows):
    """Kokkos at 1/2, 4/5 and 1 of the best on three platforms; CUDA on the GPUs."""
    return all_rows(
        (
            "1",
            [
                ran(entry, "kokkos", XEON, 4e-2),
                ran(entry, "openmp", XEON, 2e-2),
                ran(entry, "kokkos", H200, 5e-3),
                ran(entry, "kokkos", H200, 9e-3, method="plain"),
                ran(entry, "cuda", H200, 4e-3),
            ],
        ),
        ("2", [ran(entry, "kokkos", A100, 1e-2), ran(entry, "cuda", A100, 2e-2)]),
    )


def by_application(rows):
    return {one.application: one for one in portability(rows)}


def test_application_efficiency_and_pp(rows):
    kokkos = by_application(rows)["written once"]
    assert set(kokkos.platforms) == {XEON, A100, H200}
    found = kokkos.application_efficiency
    assert found.efficiencies == {
        XEON: pytest.approx(0.5),
        H200: pytest.approx(0.8),
        A100: pytest.approx(1.0),
    }
    assert found.pp == pytest.approx(3 / (1 / 0.5 + 1 / 0.8 + 1))
    assert found.mean == pytest.approx((0.5 + 0.8 + 1) / 3)
    assert found.minimum == pytest.approx(0.5) and kokkos.support == 1
    assert kokkos.architecture_efficiency is None  # no ceilings were measured


def test_platforms_without_an_interval_are_left_out(entry, all_rows):
    few = [
        {**ran(entry, model, "AMD MI300", middle), "samples": [middle] * 5}
        for model, middle in (("kokkos", 9.0), ("hip", 1.0))
    ]
    first = [ran(entry, "kokkos", H200, 5e-3), ran(entry, "cuda", H200, 4e-3)]
    second = [ran(entry, "kokkos", A100, 1e-2), ran(entry, "cuda", A100, 2e-2)]
    found = all_rows(("1", first), ("2", second), ("3", few))
    kokkos = by_application(found)["written once"]
    assert set(kokkos.platforms) == {H200, A100} and kokkos.left_out == 1
    assert kokkos.application_efficiency.pp == pytest.approx(2 / (1 / 0.8 + 1))
    (text,) = texts(portability(found))
    assert "(1 platform without an interval left out): " in text
    assert portability(all_rows(("1", first), ("3", few))) == []


def test_what_one_platform_lacks_has_no_pp(rows):
    cuda = by_application(rows)["cuda"]
    assert cuda.support == pytest.approx(2 / 3)
    assert cuda.application_efficiency.pp == 0
    assert cuda.application_efficiency.mean == pytest.approx((1 + 0.5) / 2)
    assert XEON not in cuda.application_efficiency.efficiencies


def test_composite_native_takes_the_best_of_each_platform(rows):
    native = by_application(rows)["native"].application_efficiency
    assert native.efficiencies == {
        XEON: pytest.approx(1),
        H200: pytest.approx(1),
        A100: pytest.approx(0.5),
    }
    assert native.pp == pytest.approx(3 / 4)
    (text,) = texts(portability(rows))
    assert text.startswith("PP of vector_add f32 n=2^28 on ")
    assert all(platform in text for platform in (XEON, H200, A100))
    assert ", GPUs of NVIDIA alone, against the best measured there: " in text
    assert "written once 0.71 (mean 0.77, min 0.50, runs on 100 %)" in text
    assert "native 0.75 (mean 0.83, min 0.50, runs on 100 %)" in text


@pytest.mark.parametrize(
    "gpu, remark", [("AMD MI300X", ""), (H200, ", GPUs of NVIDIA alone")]
)
def test_platforms_of_one_vendor_are_told(entry, all_rows, gpu, remark):
    rows = all_rows(*((one, [ran(entry, "kokkos", one, 1e-3)]) for one in (A100, gpu)))
    (text,) = texts(portability(rows))
    assert f"{remark}, against the best measured there: " in text
    assert ("alone" in text) == bool(remark) and gpu in text


@pytest.mark.parametrize(
    "model, counts",
    [
        ("onednn", True),
        ("serial", True),
        ("kokkos_kernels", False),
        ("numpy", False),
    ],
)
def test_composite_native_takes_what_is_made_for_a_platform(
    entry, all_rows, model, counts
):
    fast = ran(entry, model, XEON, 1e-2)
    both = [ran(entry, "kokkos", one, 4e-2) for one in (XEON, H200)]
    others = [ran(entry, "openmp", XEON, 2e-2), ran(entry, "cuda", H200, 1e-2)]
    native = by_application(all_rows(("1", [fast, *both, *others])))["native"]
    found = native.application_efficiency.efficiencies[XEON]
    assert found == pytest.approx(1 if counts else 0.5)


def test_problems_of_one_size_have_a_pp_each(rows):
    fill = "vector_add/problem:fill/dtype:f32"
    other = [replace(row, case=replace(row.case, comparison=fill)) for row in rows]
    lines = texts(portability([*rows, *other]))
    assert [line.split(" on ")[0] for line in lines] == [
        "PP of vector_add f32 n=2^28",
        "PP of vector_add fill f32 n=2^28",
    ]


def test_a_failed_check_is_no_support(entry, all_rows):
    wrong = entry(
        "kokkos", kind="host", device_name=XEON, status="failed", reason="row 7"
    )
    rows = all_rows(
        ("1", [wrong, ran(entry, "openmp", XEON, 2e-2)]),
        ("2", [ran(entry, "kokkos", H200, 1e-3)]),
    )
    kokkos = by_application(rows)["written once"]
    assert kokkos.support == 0.5 and kokkos.application_efficiency.pp == 0


def test_the_cpu_beside_a_gpu_is_no_platform_of_kokkos(entry, all_rows):
    rows = all_rows(
        ("1", [ran(entry, "kokkos", H200, 1e-3), ran(entry, "openmp", XEON, 1e-2)])
    )
    assert portability(rows) == []


def test_builds_of_one_platform_are_not_mixed(entry, save):
    """On the CPU the CUDA build has three models, the other kokkos and a slow openmp."""
    from bench.report.merge import load
    from bench.report.rows import build_rows

    gpu = [ran(entry, "kokkos", H200, 1e-3)]
    gpu += [ran(entry, model, XEON, 1e-6) for model in ("openmp", "serial", "blas")]
    cpu = [ran(entry, "kokkos", XEON, 4e-2), ran(entry, "openmp", XEON, 2e-2)]
    folders = [save(gpu, folder="a"), save(cpu, folder="b", preset="openmp")]
    found = by_application(build_rows(load(folders)[0], 0.02))
    assert found["written once"].application_efficiency.efficiencies[XEON] == 0.5
    assert "serial" not in found


def test_one_platform_or_another_problem_is_no_set(entry, all_rows):
    rows = all_rows(
        ("1", [ran(entry, "kokkos", H200, 1e-3)]),
        ("2", [ran(entry, "kokkos", A100, 1e-3, n=77)]),
    )
    assert portability(rows) == []


def test_architecture_efficiency_is_floor_over_time(entry, all_rows):
    def ceiling(device, time):
        extra = {"algorithm": "ceilings", "method": "copy"}
        return ran(entry, "kokkos", device, time, cost={"bytes": 1e9}, **extra)

    work = {"cost": {"bytes": 1e9, "operations": 0}, "n": 2**30}
    rows = all_rows(
        ("1", [ceiling(H200, 1e-3)]),
        ("1", [ran(entry, "kokkos", H200, 2e-3, **work)]),
        ("1", [ceiling(A100, 1e-3)]),
        ("1", [ran(entry, "kokkos", A100, 4e-3, **work)]),
    )
    (found,) = portability(rows)
    efficiency = found.architecture_efficiency
    assert efficiency.efficiencies == {
        H200: pytest.approx(0.5),
        A100: pytest.approx(0.25),
    }
    assert efficiency.pp == pytest.approx(2 / (2 + 4))


def test_metrics_are_not_mixed(entry, all_rows):
    rows = all_rows(
        (
            "1",
            [
                ran(entry, "kokkos", H200, 1e-3),
                ran(entry, "cuda", H200, 2e-3),
                ran(entry, "hip", H200, 1e-6, metric="host_time"),
            ],
        ),
        ("2", [ran(entry, "kokkos", A100, 1e-3)]),
    )
    found = by_application(rows)
    assert found["written once"].application_efficiency.efficiencies[H200] == 1
    assert "hip" not in found


def test_score():
    assert score({"a": 0.5, "b": 1.0}, ("a", "b")).pp == pytest.approx(2 / 3)
    assert score({"a": 0.5}, ("a", "b")).pp == 0


def test_p3_has_one_line_a_platform_and_application_that_ran(rows):
    lines = list(csv.DictReader(io.StringIO(to_p3(rows))))
    keys = [(line["platform"], line["variant"]) for line in lines]
    assert len(keys) == len(set(keys)) == 9  # cuda has no line on the Xeon
    assert tuple(lines[0]) == tuple(COLUMNS)
    (line,) = [
        r for r in lines if (r["platform"], r["variant"]) == (H200, "written once")
    ]
    assert float(line["fom"]) == pytest.approx(5e-3)
    assert float(line["app eff"]) == pytest.approx(0.8)
    assert (line["kernel"], line["n"]) == ("vector_add", "n=268435456")
    assert line["backend"] == "kokkos/wide" and line["arch eff"] == ""
    assert all(0 < float(one["app eff"]) <= 1 for one in lines)


def test_p3_gives_the_same_pp(rows):
    """The library's formula on the CSV: harmonic mean, 0 where a line is missing."""
    lines = list(csv.DictReader(io.StringIO(to_p3(rows))))
    platforms = {line["platform"] for line in lines}
    for one in portability(rows):
        own = [r for r in lines if r["variant"] == one.application]
        eff = [float(line["app eff"]) for line in own]
        pp = len(eff) / sum(1 / e for e in eff) if len(eff) == len(platforms) else 0
        assert one.application_efficiency.pp == pytest.approx(pp)
