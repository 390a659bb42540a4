# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a portable row is written, from the record to its tier; the two means of written-once code."""

import csv
import io

import pytest

from bench.report.factors import geometric_mean
from bench.report.means import means, texts
from bench.report.merge import load
from bench.report.table import to_csv
from bench.report.writing import tier, written_once

STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


def times(middle):
    return [middle * factor for factor in STEADY]


@pytest.mark.parametrize(
    "model, told, shown, once",
    [
        ("kokkos", {"bodies": "one", "shared": False}, "written once", True),
        ("kokkos", {"bodies": "numbers"}, "written once", True),
        ("kokkos", {"bodies": "several"}, "several bodies", False),
        ("kokkos", {"bodies": None}, "several bodies", False),
        ("kokkos", {"bodies": "one", "method": "flat"}, "flat", True),
        ("kokkos", {"bodies": None, "method": "flat"}, "flat", False),
        ("kokkos_specialised", {"bodies": "one"}, "specialised", False),
        ("cuda", {"bodies": "one"}, "", False),
    ],
)
def test_a_record_tells_the_tier(entry, rows_of, model, told, shown, once):
    (row,) = rows_of([entry(model, times(1e-3), kind="gpu", **told)])
    assert (tier(row.case), written_once(row.case)) == (shown, once)


def test_the_csv_has_what_the_record_tells(entry, rows_of):
    numbers = {"width": 4, "rows": 8}
    rows = rows_of(
        [
            entry("kokkos", times(1e-3), bodies="numbers", numbers=numbers),
            entry("kokkos_specialised", times(1e-3), kind="gpu", shared=True),
            entry("cuda", times(1e-3)),
        ]
    )
    lines = {line["model"]: line for line in csv.DictReader(io.StringIO(to_csv(rows)))}
    told = {
        model: tuple(line[key] for key in ("bodies", "shared", "numbers"))
        for model, line in lines.items()
    }
    assert told == {
        "kokkos": ("numbers", "", "width=4 rows=8"),
        "kokkos_specialised": ("several", "true", ""),
        "cuda": ("", "", ""),
    }


@pytest.mark.parametrize(
    "row, message",
    [
        ({"bodies": "two"}, "'bodies' is 'two': invalid enum value"),
        ({"shared": "yes"}, "'shared' is 'yes': expected `bool | null`"),
        ({"numbers": {"rows": 0}}, "'numbers.rows' is 0"),
    ],
)
def test_what_no_program_writes_is_refused(entry, save, row, message):
    cases, (problem,) = load([save([entry("kokkos", times(1e-3), **row)])])
    assert not cases and message in problem


def test_two_means(entry, all_rows):
    """Pairs of one method; then problems, where the fastest native may have no written-once twin."""
    first = [
        entry("kokkos", times(4e-3), n=8),
        entry("kokkos", times(3e-3), n=8, method="other"),
        entry("kokkos", times(2e-3), "team=64", n=8),
        entry("kokkos", times(1e-3), n=8, method="flat"),
        entry("kokkos", times(1e-3), n=8, method="branched", bodies="several"),
        entry("cuda", times(2e-3), n=8),
        entry("cuda", times(1e-3), n=8, method="mma"),
        entry("cub", times(1e-4), n=8, method="transform"),
    ]
    second = [entry("kokkos", times(5e-3), n=16), entry("cuda", times(4e-3), n=16)]
    without = [
        entry("kokkos", times(5e-3), n=32, bodies=None),
        entry("cuda", times(4e-3), n=32),
    ]
    rows = all_rows(("1", first), ("1", second), ("1", without))
    (found,) = means(rows)
    pairs, problems = found.pairs.ratios, found.problems.ratios
    assert list(pairs.values()) == pytest.approx([4 / 2, 5 / 4])
    assert list(problems.values()) == pytest.approx([3 / 1, 5 / 4])
    assert found.problems.without == 1
    of_pairs, of_problems = texts([found])
    mean = geometric_mean([2.0, 1.25])
    assert of_pairs.endswith(
        f"{mean:.3f} (n = 2, worst 2.000: vector_add f32 n=8 wide)"
    )
    assert "(n = 2, worst 3.000: vector_add f32 n=8 mma)" in of_problems
    assert of_problems.endswith("; problems without written-once code, left out: 1")


def test_no_mean_without_written_once_code(entry, rows_of):
    made = [entry("kokkos", times(2e-3), bodies=None), entry("cuda", times(1e-3))]
    assert means(rows_of(made)) == []
