# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executions as part of what is compared; methods of old records with today's names."""

import csv
import io
import json
import re
from pathlib import Path

import pytest

from bench.report import __main__ as report
from bench.report.gaps import gaps
from bench.report.merge import load
from bench.report.renamed import MODELS, RENAMED, modern_name
from bench.report.table import to_csv
from bench.report.view import groups

ROOT = Path(__file__).resolve().parents[2]
STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1
OLD = {"algorithm": "logistic_regression", "method": "graph"}
NEW = {"algorithm": "logistic_regression", "method": "fused", "execution": "graph"}


def times(middle):
    return [middle * factor for factor in STEADY]


def named(made, execution):
    """An entry whose name has the execution."""
    made["name"] = made["name"].replace("/model:", f"/execution:{execution}/model:", 1)
    return made


def test_the_table_is_the_same_in_both_languages():
    text = (ROOT / "bench/study/renamed.cpp").read_text(encoding="utf-8")
    row = r'\{"(\w+)", "(\w+)", "(\w*)",\s*"(\w+)",\s*Execution::(\w+)\}'
    found = {(a, old, m): (now, e) for a, old, m, now, e in re.findall(row, text)}
    assert found == RENAMED


def test_names():
    tail = "dtype:f32/points:200/devices:1/launch:auto"
    for model, way in (
        ("kokkos", "method:stepwise/execution:kokkos_graph"),
        ("cuda", "method:stepwise/execution:graph"),
        ("cupy_raw", "method:graph"),
    ):
        old = f"polynomial_fit/method:graph/model:{model}/{tail}"
        new = f"polynomial_fit/{way}/model:{model}/{tail}"
        assert modern_name(old) == new and modern_name(new) == new
    assert modern_name("anything") == "anything"


def test_a_model_got_a_new_name(entry, rows_of):
    for way in ("method:wide", "method:wide/execution:graph"):
        old, new = (
            f"vector_add/{way}/model:{model}/dtype:f32/n:8"
            for model in ("kokkos_blocks", "kokkos_specialised")
        )
        assert modern_name(old) == new and modern_name(new) == new
    text = (ROOT / "bench/study/renamed.cpp").read_text(encoding="utf-8")
    assert dict(re.findall(r'name == "(\w+)" \? "(\w+)" : name', text)) == MODELS
    case = rows_of([entry("kokkos_blocks", times(1e-3))])[0].case
    assert (
        case.model == "kokkos_specialised" and "/model:kokkos_specialised" in case.name
    )


def test_an_old_record_has_an_execution(entry, rows_of):
    peer = entry("triton", times(1e-3), kind="gpu", **OLD)
    rows = rows_of([entry("cuda", times(1e-3), **OLD), peer])
    assert [(r.case.method, r.case.execution) for r in rows] == [
        ("fused", "graph"),
        ("graph", "stream"),
    ]
    lines = list(csv.DictReader(io.StringIO(to_csv(rows))))
    assert [line["execution"] for line in lines] == ["graph", "stream"]
    (group,) = groups(rows)
    assert [row["execution"] for row in group.rows] == ["graph", ""]


def test_old_and_new_records_are_the_same_case(entry, save):
    old = save([entry("cuda", times(1e-3), **OLD)], folder="old", launch_id="1")
    new = named(entry("cuda", times(1e-3), **NEW), "graph")
    cases, problems = load([old, save([new], folder="new", launch_id="2")])
    assert not problems and len(cases) == 1 and set(cases[0].launches) == {"1", "2"}


def test_old_and_new_are_compared(entry, save, capsys):
    a = save([entry("cuda", times(1e-3), **OLD)], folder="A", launch_id="1")
    new = named(entry("cuda", times(2e-3), **NEW), "graph")
    b = save([new], folder="B", launch_id="2")
    assert report.main(["compare", str(a), str(b), "--fail-on-regression"]) == 1
    assert "1 cases in both: 1 slower; regressions: 1" in capsys.readouterr().out


def test_a_manifest_with_old_names(entry, save):
    made = entry("cuda", times(1e-3), **OLD)
    folder = save([made], run_id="7")
    manifest = {"run_id": "7", "cases": [made["name"]]}
    (folder / "records" / "run.json").write_text(json.dumps(manifest), encoding="utf-8")
    cases, problems = load([folder])
    assert not problems and len(cases) == 1


def test_reasons_name_models_as_today(entry, rows_of):
    (row,) = rows_of([entry("hip", reason="needs kokkos_blocks or cuda")])
    assert row.reason == "needs kokkos_specialised or cuda"


def test_like_is_compared_with_like(entry, rows_of):
    """Graphs with graphs, Kokkos' own with native ones; the rest with the rest."""
    what = {"algorithm": "polynomial_fit", "method": "stepwise"}
    rows = rows_of(
        [
            entry("kokkos", times(4e-3), **what),
            entry("cuda", times(2e-3), **what),
            named(
                entry("kokkos", times(3e-3), execution="kokkos_graph", **what),
                "kokkos_graph",
            ),
            named(entry("cuda", times(1e-3), execution="graph", **what), "graph"),
        ]
    )
    ratios = {r.case.method_text: r.ratio.value for r in rows if r.ratio}
    assert ratios == {
        "stepwise": pytest.approx(2),
        "stepwise kokkos_graph": pytest.approx(3),
    }
    (gap,) = gaps(rows)
    assert gap.once.case.method_text == "stepwise kokkos_graph"
    assert gap.native.case.method_text == "stepwise graph"
    assert gap.factors["language"].value == pytest.approx(3)
