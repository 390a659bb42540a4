# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands beside the factors of the gap, and which rows are written once, by hand."""

from math import log

import pytest

from bench.report.factors import WHOLE
from bench.report.gap_texts import COLUMNS, cells
from bench.report.gaps import gaps

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


def only(rows):
    (gap,) = gaps(rows)
    return gap


def test_specialised_kernels_stand_beside_the_factors(study, entry, rows_of):
    """kokkos_specialised at 6 ms by `wide`, whose body no record tells, then at 4 ms by `mma`, which is native's."""
    wide = entry("kokkos_specialised", times(6e-3), "team=64", kind="gpu")
    gap = only(rows_of([*study, wide]))
    assert gap.factors["language"].value == pytest.approx(8 / 5), "no factor holds it"
    assert gap.beside == {"recovered": pytest.approx(log(8 / 6) / log(8 / 1))}
    told = "the record does not tell whose device code it is"
    assert gap.blank["launch layer"] == told
    assert gap.special_ratio.value == pytest.approx(6 / 5)
    own = entry("kokkos_specialised", times(6e-3), kind="gpu", shared=False)
    gap = only(rows_of([*study, own]))
    assert gap.blank["launch layer"] == "kokkos_specialised has device code of its own"
    mma = entry(
        "kokkos_specialised", times(4e-3), method="mma", kind="gpu", shared=True
    )
    gap = only(rows_of([*study, wide, mma]))
    assert gap.beside == {
        "launch layer": pytest.approx(4 / 3),
        "recovered": pytest.approx(log(8 / 4) / log(8 / 1)),
    }
    (line,) = cells([gap])
    assert line[COLUMNS.index("recovered")] == "33 %"
    assert line[COLUMNS.index("flat cost, default")] == "" and line[-1] == ""


@pytest.mark.parametrize(
    "blocks, native, reason",
    [
        (3e-3, 1e-3, "kokkos_specialised is slower"),
        (2e-3, 1.99e-3, "within 2 % of the best"),
    ],
)
def test_nothing_is_recovered_where_there_is_nothing_to_recover(
    entry, rows_of, blocks, native, reason
):
    made = [
        entry("kokkos", times(2e-3)),
        entry("kokkos_specialised", times(blocks), kind="gpu"),
        entry("cuda", times(native)),
    ]
    gap = only(rows_of(made))
    assert "recovered" not in gap.beside and gap.blank["recovered"] == reason


def test_flat_kernels_are_no_written_once_code(study, entry, rows_of):
    """They would be the fastest at the default launch here."""
    flat = entry("kokkos", times(10e-3), method="flat")
    gap = only(rows_of([*study, flat]))
    assert gap.once.case.method == "wide" and gap.flat.case.method == "flat"
    assert gap.beside == {"flat cost, default": pytest.approx(10 / 12)}
    assert gap.blank["flat cost, searched"] == "one launch measured"
    tile = entry("kokkos", times(9e-3), "tile=32", method="flat", source="explicit")
    gap = only(rows_of([*study, flat, tile]))
    assert gap.beside == {
        "flat cost, default": pytest.approx(10 / 12),
        "flat cost, searched": pytest.approx(9 / 8),
    }
    gap = only(rows_of([flat, entry("cuda", times(5e-3))]))
    assert gap.once is None and gap.row is gap.flat
    assert gap.blank[WHOLE] == "no written-once kernel beside flat"


def test_several_bodies_are_not_written_once(study, entry, rows_of):
    """They are a tier of their own, no side of a factor, and may be the best of all."""
    several = entry("kokkos", times(0.5e-3), method="branched", bodies="several")
    numbers = entry("kokkos", times(11e-3), method="wider", bodies="numbers")
    gap = only(rows_of([*study, several, numbers]))
    assert gap.several.case.method == "branched" and gap.best is gap.several
    assert gap.once.case.method == "wider", "with numbers it is written once"
    every = (*study, several)
    old = [{k: v for k, v in one.items() if k != "bodies"} for one in every]
    gap = only(rows_of(old))
    assert gap.once is None and gap.whole is None
    assert gap.blank[WHOLE] == "no written-once kernel: kokkos has several bodies"
    assert gap.several.case.method == "branched" and gap.ratio is None
    gap = only(rows_of(old[:-1]))
    assert gap.ratio.value == pytest.approx(8 / 5), "several bodies over native"


def test_blocks_alone_leave_the_column_of_kokkos_blank(entry, rows_of):
    made = [
        entry("kokkos_specialised", times(3e-3), kind="gpu"),
        entry("cuda", times(2e-3)),
    ]
    gap = only(rows_of(made))
    assert gap.once is None and gap.row is gap.special and gap.ratio is None
    assert gap.special_ratio.value == pytest.approx(1.5) and gap.whole is None
