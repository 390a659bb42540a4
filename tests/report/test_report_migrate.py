# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records of older versions: refused by readers, brought up to date by one command."""

import csv
import gzip
import io
import json
import lzma
import re
from pathlib import Path

import pytest

from bench.report import __main__ as report
from bench.report import pack
from bench.report.gaps import gaps
from bench.report.merge import load
from bench.report.migrate import __main__ as migrate
from bench.report.migrate.names import MODELS, RENAMED, modern_name
from bench.report.rows import build_rows
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


def aged(path):
    """The file as an older program would have written it."""
    record = json.loads(path.read_text())
    del record["schema"]
    for row in record.get("benchmarks", []):
        del row["kind"], row["cost"]["written_bytes"]
        if row["execution"] == "stream":
            del row["execution"]
    path.write_text(json.dumps(record, indent=1))
    return path


@pytest.fixture
def save_old(save):
    """Like ``save``, of a record of schema 1."""

    def write(entries, folder="a", file="record.json", **changes):
        made = save(entries, folder=folder, file=file, **changes)
        aged(made / "records" / file)
        return made

    return write


@pytest.fixture
def migrated(save_old):
    """The same, brought up to date."""

    def write(entries, **changes):
        folder = save_old(entries, **changes)
        assert migrate.main([str(folder)]) == 0
        return folder

    return write


def rows_in(folder):
    cases, problems = load([folder])
    assert not problems
    return build_rows(cases, 0.02)


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


def test_a_model_got_a_new_name(entry, migrated):
    for way in ("method:wide", "method:wide/execution:graph"):
        old, new = (
            f"vector_add/{way}/model:{model}/dtype:f32/n:8"
            for model in ("kokkos_blocks", "kokkos_specialised")
        )
        assert modern_name(old) == new and modern_name(new) == new
    text = (ROOT / "bench/study/renamed.cpp").read_text(encoding="utf-8")
    assert dict(re.findall(r'name == "(\w+)" \? "(\w+)" : name', text)) == MODELS
    case = rows_in(migrated([entry("kokkos_blocks", times(1e-3))]))[0].case
    assert (case.model, case.kind) == ("kokkos_specialised", "specialised")
    assert "/model:kokkos_specialised" in case.name


def test_an_old_record_gets_an_execution(entry, migrated):
    peer = entry("triton", times(1e-3), kind="gpu", **OLD)
    rows = rows_in(migrated([entry("cuda", times(1e-3), **OLD), peer]))
    assert [(r.case.method, r.case.execution) for r in rows] == [
        ("fused", "graph"),
        ("graph", "stream"),
    ]
    lines = list(csv.DictReader(io.StringIO(to_csv(rows))))
    assert [line["execution"] for line in lines] == ["graph", "stream"]
    (group,) = groups(rows)
    assert [row["execution"] for row in group.rows] == ["graph", ""]


def test_old_and_new_records_are_the_same_case(entry, save, migrated):
    old = migrated([entry("cuda", times(1e-3), **OLD)], folder="old", launch_id="1")
    new = named(entry("cuda", times(1e-3), **NEW), "graph")
    cases, problems = load([old, save([new], folder="new", launch_id="2")])
    assert not problems and len(cases) == 1 and set(cases[0].launches) == {"1", "2"}


def test_old_and_new_are_compared(entry, save, migrated, capsys):
    a = migrated([entry("cuda", times(1e-3), **OLD)], folder="A", launch_id="1")
    new = named(entry("cuda", times(2e-3), **NEW), "graph")
    b = save([new], folder="B", launch_id="2")
    assert report.main(["compare", str(a), str(b), "--fail-on-regression"]) == 1
    assert "1 cases in both: 1 slower; regressions: 1" in capsys.readouterr().out


def test_a_manifest_with_old_names(entry, save_old):
    made = entry("cuda", times(1e-3), **OLD)
    folder = save_old([made], run_id="7")
    manifest = {"run_id": "7", "cases": [made["name"]]}
    (folder / "records" / "run.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert migrate.main([str(folder)]) == 0
    cases, problems = load([folder])
    assert not problems and len(cases) == 1


def test_reasons_name_models_as_today(entry, migrated):
    folder = migrated([entry("hip", reason="needs kokkos_blocks or cuda")])
    (row,) = rows_in(folder)
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


def test_kinds_follow_from_names(entry, migrated):
    models = {
        "kokkos_kernels": "portable_library",
        "onednn": "library",
        "serial": "reference",
        "pytorch": "peer",
        "openmp": "native",
    }
    rows = rows_in(migrated([entry(m, times(1e-3), kind="host") for m in models]))
    assert {row.case.model: row.case.kind for row in rows} == models


NUMBERS = '{"a": 1e-05, "b": 1.0e-5, "c": 0.10, "d": 1E3, "e": -0.0, "f": 12345678901234567890123}'


@pytest.mark.parametrize("how", ["loose", "gzip", "packed"])
def test_what_does_not_change_stays_as_it_is_written(entry, save_old, how, capsys):
    folder = save_old([entry("cuda", times(1e-3))])
    path = folder / "records/record.json"
    path.write_text(
        path.read_text().replace('"context": {', f'"context": {{"x": {NUMBERS},', 1)
    )
    old = pack.compact(path.read_bytes())
    if how == "gzip":
        path.with_name("record.json.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    if how == "packed":
        assert pack.main([str(folder)]) == 0
    capsys.readouterr()
    assert migrate.main([str(folder)]) == 0
    assert "now of schema 2: 1 files, 1 rows" in capsys.readouterr().out
    if how == "packed":
        new = lzma.decompress((folder / "records.jsonl.xz").read_bytes())
        assert b"/" not in new.split(b",")[0]
    else:
        files = list((folder / "records").iterdir())
        assert len(files) == 1
        data = files[0].read_bytes()
        new = pack.compact(gzip.decompress(data) if how == "gzip" else data)
    samples = re.compile(rb'"samples":\[[^]]*\]')
    assert pack.compact(NUMBERS.encode()) in new
    assert samples.search(new)[0] == samples.search(old)[0]
    assert b'"written_bytes":' in new and b'"sampling"' not in new
    assert migrate.main([str(folder)]) == 0
    assert "up to date" in capsys.readouterr().out


@pytest.mark.parametrize("packs", [False, True])
def test_readers_refuse_old_records_in_one_sentence(entry, save_old, packs):
    save_old([entry("cuda", times(1e-3))], file="1.json")
    folder = save_old([entry("hip")], file="2.json")
    (folder / "records/run.json").write_text('{"run_id": "1", "cases": []}')
    if packs:
        assert pack.main([str(folder)]) == 0
    cases, (problem,) = load([folder])
    place = folder / ("records.jsonl.xz" if packs else "records")
    first = f"{place}: line 1, 1.json" if packs else place / "1.json"
    text = "left out: written by an older League (schema 1, not 2)"
    assert not cases and problem.startswith(f"{first} and 1 more: {text}")
    assert f"`python3 -m bench.report.migrate {place}`" in problem
    assert migrate.main([str(place)]) == 0
    assert "schema" not in " ".join(load([folder])[1])


def test_readers_name_the_league_that_reads_newer_records(entry, save):
    folder = save([entry("cuda", times(1e-3))], git="f00")
    path = folder / "records/record.json"
    path.write_text(path.read_text().replace('"schema": 2', '"schema": 3', 1))
    cases, (problem,) = load([folder])
    assert not cases and str(path) in problem
    assert (
        "it has schema 3, this League reads 2: use the League of commit f00" in problem
    )


@pytest.mark.parametrize(
    "text, message",
    [
        ("{", "not a whole JSON file"),
        ('{"benchmarks": [], "comparison": "x"}', "'context' is missing"),
        ('{"benchmarks": [{"name": "a"}], "comparison": "x"}', "not a whole record"),
    ],
)
def test_nothing_is_written_where_something_cannot_be_read(
    entry, save_old, capsys, text, message
):
    folder = save_old([entry("cuda", times(1e-3))])
    (folder / "records/x.json").write_text(text)
    before = {path: path.read_bytes() for path in folder.rglob("*.json")}
    assert migrate.main([str(folder)]) == 2
    said = capsys.readouterr().err
    assert f"{folder}/records/x.json: " in said and message in said
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before


def test_a_folder_without_records_is_refused(tmp_path, capsys):
    assert migrate.main([str(tmp_path)]) == 2
    assert f"{tmp_path}: holds no records" in capsys.readouterr().err
