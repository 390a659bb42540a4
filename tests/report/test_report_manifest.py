# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records against the manifest of their run: what does not belong is said and left out."""

import json
import shutil

import pytest

from bench.report import __main__ as report
from bench.report.merge import load

SIZES = (1024, 2048)


@pytest.fixture
def run(entry, save):
    """run(folder, run_id) -> a whole run: two comparisons of two cases, with manifest."""

    def build(folder="a", run_id="r1", **changes):
        cases = []
        for number, n in enumerate(SIZES):
            pair = [entry("kokkos", [1e-3] * 6, n=n), entry("cuda", n=n)]
            cases += [one["name"] for one in pair]
            more = {"launch_id": f"{run_id}-{number}", "run_id": run_id, **changes}
            path = save(pair, folder=folder, file=f"00{number}-add.json", **more)
        write_manifest(path / "records", run_id, cases)
        return path

    return build


def write_manifest(folder, run_id, cases, **more):
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"schema": 2, "run_id": run_id, "cases": cases, **more})
    (folder / "run.json").write_text(text)


def reported(folder, capsys):
    """Exit code, what the terminal says, and the rows; page and table say it too."""
    code = report.main([str(folder), "--json"])
    out, err = capsys.readouterr()
    said = [line.removeprefix("bench.report: ") for line in err.splitlines()]
    page = (folder / "report" / "index.html").read_text(encoding="utf-8")
    table = (folder / "table.md").read_text(encoding="utf-8")
    for line in said:
        start = line.split(":")[0]  # up to the first sign that a page writes otherwise
        assert start in page and start in table
    return code, said, sorted((r["sizes"], r["model"]) for r in json.loads(out))


WHOLE = [(f"n={n}", model) for n in SIZES for model in ("cuda", "kokkos")]


def test_a_whole_run_is_just_reported(run, capsys):
    assert reported(run(), capsys) == (0, [], WHOLE)


def test_a_run_that_went_on_is_one_run(run):
    """Its second record is of a later launch of the program."""
    cases, problems = load([run()])
    assert not problems
    assert len({case.context.launch_id for case in cases}) == 2


@pytest.mark.parametrize("ids", [{"run_id": "r0"}, {}])
def test_a_record_of_another_run_is_left_out(run, entry, save, capsys, ids):
    folder = run()
    foreign = [entry("kokkos", [1e-9] * 6, n=2048)]
    save(foreign, file="001-add.json", launch_id="x", **ids)
    code, said, rows = reported(folder, capsys)
    assert code == 1 and rows == [row for row in WHOLE if row[0] == "n=1024"]
    of = "of run 'r0'" if ids else "of a run without an id"
    assert "001-add.json: left out: " in said[0] and f"it is {of}" in said[0]
    assert "run.json beside it of run 'r1'" in said[0]
    assert "not finished: of its 4 cases 2 have no row" in said[1]
    assert all("n:2048" in name for name in said[1].split("'")[1::2])


def test_rows_that_are_no_cases_of_the_run_are_left_out(run, entry, save, capsys):
    folder = run()
    pair = [entry("kokkos", [1e-3] * 6, n=2048), entry("cuda", n=2048)]
    strange = entry("hip", [1e-9] * 6, n=2048)
    more = {"launch_id": "r1-1", "run_id": "r1"}
    save([*pair, strange], file="001-add.json", **more)
    code, (said,), rows = reported(folder, capsys)
    assert code == 1 and rows == WHOLE
    assert (
        "001-add.json: " in said
        and f"left out that are no cases of run.json: '{strange['name']}'" in said
    )


def test_a_comparison_recorded_twice_counts_once(run, capsys):
    """Even of skipped rows alone, which have no samples to count twice."""
    folder = run()
    records = folder / "records"
    shutil.copy(records / "001-add.json", records / "copy.json")
    code, (said,), rows = reported(folder, capsys)
    assert code == 1 and rows == WHOLE
    assert "copy.json: left out: its comparison is in 001-add.json too" in said


def test_a_run_that_is_not_finished_is_said(run, capsys):
    folder = run()
    (folder / "records" / "001-add.json").unlink()
    code, (said,), rows = reported(folder, capsys)
    assert code == 1 and len(rows) == 2
    assert "run.json: the run is not finished: of its 4 cases 2 have no row" in said
    assert "--resume" in said
    (folder / "records" / "000-add.json").unlink()
    cases, problems = load([folder])
    assert cases == [] and "of its 4 cases 4 have no row" in problems[-1]


def test_many_cases_are_counted(tmp_path):
    write_manifest(tmp_path / "records", "r1", [f"case {i}" for i in range(9)])
    text = load([tmp_path])[1][-1]
    assert "'case 0', 'case 1', 'case 2' and 6 more" in text


def test_launches_of_repeat_have_a_manifest_each(run):
    folders = [run(folder=f"out/{i}", run_id=f"r{i}") for i in (1, 2)]
    cases, problems = load(folders)
    assert not problems and all(len(c.launches) in (0, 2) for c in cases)


def search(entry, save, names, **changes):
    """The record of a search: a row per launch."""
    rows = [
        entry("kokkos", [1e-3] * 6, launch=launch, tuning=True, **changes)
        for launch in ("auto", "team=64", "team=128")
    ]
    folder = save(rows, folder="tuned", launch_id="t", run_id="t1")
    write_manifest(folder / "records", "t1", names, options={"tuning": True})
    return folder, rows


def test_a_search_has_rows_of_many_launches_of_its_cases(entry, save):
    folder, rows = search(entry, save, [entry("kokkos")["name"]])
    cases, problems = load([folder])
    assert not problems and len(cases) == len(rows)
    other = [entry("cuda")["name"]]
    write_manifest(folder / "records", "t1", other, options={"tuning": True})
    cases, problems = load([folder])
    assert cases == [] and len(problems) == 2


def test_a_launch_that_no_case_asks_for_is_no_row_of_a_run(entry, save):
    """Only the candidates of a search may differ from the cases in their launch."""
    folder = save([entry("kokkos", [1e-3] * 6, "team=64")], run_id="r1")
    write_manifest(folder / "records", "r1", [entry("kokkos")["name"]])
    cases, problems = load([folder])
    assert cases == [] and len(problems) == 2


@pytest.mark.parametrize(
    "text",
    [None, '{"schema": 2, "cases": ["another"]}', '{"schema": 2, "run_id": ""}'],
)
def test_folders_of_old_runs_hold_what_they_hold(run, entry, save, text):
    """No manifest, or one without an id: published records of several launches."""
    folder = run()
    save([entry("hip", [1e-3] * 6, n=8)], file="more.json", launch_id="z")
    manifest = folder / "records" / "run.json"
    manifest.write_text(text) if text else manifest.unlink()
    cases, problems = load([folder])
    assert not problems and len(cases) == 5


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", '{"schema": 2, "run_id": 3}'),
        '{"schema": 2, "run_id": "r", "cases": [1]}',
    ],
)
def test_a_manifest_that_cannot_be_read_is_said(run, text, capsys):
    folder = run()
    (folder / "records" / "run.json").write_text(text)
    code, (said,), rows = reported(folder, capsys)
    assert code == 1 and rows == WHOLE
    assert "run.json: " in said and "are taken as they are" in said
