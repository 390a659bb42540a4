# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ladder's chart: rungs in the order of the study, one clock, only of studies that are named so."""

import pytest

pytest.importorskip("matplotlib")

from bench.report.figures import all_figures, ladder
from bench.report.figures.output import render
from bench.report.findings import analyse

STUDY = {"study": "ladder"}


def rung(entry, method, model, middle, **changes):
    """A method of a model, eight samples within a per cent."""
    samples = [middle * (1 + 0.001 * n) for n in range(8)]
    return entry(model, samples, algorithm="sum", method=method, **changes)


@pytest.fixture
def planted(rows_of, entry):
    """planted(study=...) -> rows of three methods in CUDA and Kokkos, and a library's."""

    def build(**league):
        return rows_of(
            [
                rung(entry, "one_thread", "kokkos", 2.0),
                rung(entry, "one_thread", "cuda", 1.0),
                rung(entry, "atomic", "kokkos", 1e-3),
                rung(entry, "atomic", "cuda", 4e-3),
                rung(entry, "two_stage", "cuda", 2e-3),
                rung(entry, "two_stage", "cuda", 1e-3, launch="team=64"),
                rung(entry, "library", "pytorch", 1e-6, metric="host_time"),
            ],
            **league,
        )

    return build


def test_rungs_keep_the_order_of_the_study(planted, tmp_path):
    rows = planted(**STUDY)
    (figure,) = ladder.figures(rows, analyse(rows, 0.02))
    shown = ladder.rungs(rows)
    assert [one.method for one in shown] == ["one_thread", "atomic", "two_stage"]
    assert [[row.case.model for row in one.rows] for one in shown] == [
        ["cuda", "kokkos"],
        ["kokkos", "cuda"],
        ["cuda"],
    ]
    assert shown[2].rows[0].case.launch == "team=64"  # the faster of two launches
    assert figure.algorithm == "sum" and "1,000 times as fast" in figure.caption
    assert "pytorch" not in {case.model for case in figure.cases}
    text = render(figure, figure.slug, tmp_path)
    assert "one_thread" in text and "two_stage" in text and "(log)" in text


def test_only_a_study_of_that_name_has_a_ladder(planted):
    rows = planted(study="sum_orderings")
    kinds = [figure.kind for figure in all_figures(rows, analyse(rows, 0.02))]
    assert "ladder" not in kinds and kinds


def test_one_rung_is_no_ladder(rows_of, entry):
    rows = rows_of([rung(entry, "atomic", "cuda", 1.0)], **STUDY)
    assert list(ladder.figures(rows, analyse(rows, 0.02))) == []
