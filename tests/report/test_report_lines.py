# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code convergence in the report: beside PP, in the navigation chart and for p3-analysis."""

import csv
import io
import json

import pytest

from bench.report.__main__ import main
from bench.report.figures import navigation
from bench.report.figures import source_lines as chart
from bench.report.findings import analyse
from bench.report.lines import add_metrics, source_lines, to_json
from bench.report.merge import load
from bench.report.metric_texts import texts as metrics_of
from bench.report.p3 import to_coverage, to_p3
from bench.report.portability import portability, texts
from bench.report.rows import build_rows
from tests.made_lines import KERNEL, made_builds

STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


@pytest.fixture
def builds():
    return made_builds()


@pytest.fixture
def entries(entry):
    def times(middle):
        return [middle * factor for factor in STEADY]

    host = {"kind": "host", "device_name": "Intel Xeon"}
    return [
        ({"preset": "openmp"}, [entry("kokkos", times(2e-2), **host), entry("openmp", times(1e-2), **host)]),
        ({}, [entry("kokkos", times(1e-3)), entry("cuda", times(1e-3))]),
    ]  # fmt: skip


@pytest.fixture
def folders(entries, save):
    return [
        save(some, folder=str(i), launch_id=str(i), **changes)
        for i, (changes, some) in enumerate(entries)
    ]


@pytest.fixture
def rows(folders):
    return build_rows(load(folders)[0], 0.02)


def test_convergence_stands_beside_pp(rows, builds):
    found = {one.application: one for one in portability(rows, builds)}
    assert found["written once"].convergence == 0.5
    assert found["native"].convergence == 0.25
    assert found["cuda"].convergence is None  # one platform
    (text,) = texts(portability(rows, builds))
    assert "written once 0.67 (mean 0.75, min 0.50, runs on 100 %, code conver" in text
    assert "native 1.00 (" in text and "code convergence 0.25)" in text
    assert "convergence" not in texts(portability(rows))[0]


def test_lines_of_one_platform_alone_give_none(rows, builds):
    del builds["openmp"]
    assert {one.convergence for one in portability(rows, builds)} == {None}


def test_navigation_chart(rows, builds):
    pytest.importorskip("matplotlib")
    assert not list(navigation.figures(rows, analyse(rows, 0.02)))
    (figure,) = navigation.figures(rows, analyse(rows, 0.02, builds))
    assert figure.title == "Navigation chart: vector_add f32 n=2^28"
    (panel,) = figure.draw().axes
    points = {line.get_label(): line.get_xydata().tolist() for line in panel.lines}
    assert points == {
        "written once: convergence 0.50, PP 0.67": [[0.5, pytest.approx(2 / 3)]],
        "native: convergence 0.25, PP 1.00": [[0.25, 1]],
    }


def test_what_code_costs_are_metrics(folders, builds):
    cases, _ = load(folders)
    add_metrics(cases, builds)
    told = {(c.device_kind, c.model): metrics_of(c) for c in cases}
    assert (
        told["gpu", "cuda"]
        == "source lines: 2.5; compile time [s]: 9.5; code size [B]: 4,096"
    )
    # lines of all builds; the object of a build
    assert told["gpu", "kokkos"].startswith("source lines: 2; ")
    assert told["host", "kokkos"].startswith("source lines: 2; ")
    del builds["openmp"]
    again, _ = load(folders)
    add_metrics(again, builds)
    known = {c.device_kind: source_lines(c) for c in again if c.model == "kokkos"}
    assert known == {"gpu": 1.5, "host": 0}


def test_speed_against_lines(folders, builds):
    pytest.importorskip("matplotlib")
    cases, _ = load(folders)
    assert not list(chart.figures(build_rows(cases, 0.02), analyse([], 0.02)))
    add_metrics(cases, builds)
    figures = list(chart.figures(build_rows(cases, 0.02), analyse([], 0.02)))
    host = next(one for one in figures if "Intel Xeon" in one.title)
    assert "1 is the best in this table, wide / openmp" in host.caption
    (panel,) = host.draw().axes
    points = sorted(line.get_xydata()[0].tolist() for line in panel.lines)
    assert points == [[1.5, 1], [2, pytest.approx(0.5)]]
    assert {text.get_text() for text in panel.texts} == {
        "wide / kokkos",
        "wide / openmp",
    }


def test_p3_names_the_lines(rows, builds):
    lines = list(csv.DictReader(io.StringIO(to_p3(rows, builds))))
    keys = {(line["arch"], line["variant"]): line["coverage_key"] for line in lines}
    assert keys["openmp", "written once"] == "openmp/vector_add/wide/kokkos"
    assert keys["openmp", "native"] == "openmp/vector_add/wide/openmp"
    assert {line["coverage_key"] for line in csv.DictReader(io.StringIO(to_p3(rows)))} == {""}  # fmt: skip
    found = csv.DictReader(io.StringIO(to_coverage(rows, builds)))
    coverage = {line["coverage_key"]: json.loads(line["coverage"]) for line in found}
    assert set(coverage) == set(keys.values())
    (file,) = coverage["openmp/vector_add/wide/kokkos"]
    assert file["file"] == KERNEL and file["used_lines"] == [1, 2, 3]
    assert file["unused_lines"] == [4, 5, 6, 7]


def test_the_command_takes_the_file(folders, builds, tmp_path, capsys):
    (file := tmp_path / "lines.json").write_text(to_json(builds.values()))
    words = [*map(str, folders), "--output", str(tmp_path), "--lines"]
    assert main([*words, str(file)]) == 0
    table = (tmp_path / "table.md").read_text()
    assert "code convergence 0.50" in table and "source lines: 2.5;" in table
    assert (tmp_path / "coverage.csv").exists()
    file.write_text("{}")
    assert main([*words, str(file)]) == 2
    assert "lines.json: KeyError: 'schema'" in capsys.readouterr().err
