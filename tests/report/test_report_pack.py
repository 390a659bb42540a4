# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packed records say what the files said, and what is damaged or doubled is named."""

import gzip
import json
import lzma
import re

import pytest

from bench.report import __main__ as report
from bench.report import pack, sources
from bench.report.merge import load
from bench.report.sources import record_files

NUMBERS = '[1e-05, 1.0e-5, 0.10, 1E3, -0.0, 18446744073709551617, NaN, "a \\" { b"]'


@pytest.fixture
def folder(entry, save):
    """Three records, one of a search, and a manifest; one as a compressed file."""
    save([entry("cuda", [1e-3] * 6)], file="000-add.json")
    save([entry("kokkos", [2e-3] * 6)], file="001-add.json", launch_id="2")
    path = save([entry("cuda", [3e-3] * 6, "team=64", tuning=True)], file="t.json")
    (path / "tuning").mkdir()
    (path / "records/t.json").rename(path / "tuning/t.json")
    (path / "records/run.json").write_text('{"schema": 2, "study": "s"}')
    first = path / "records/000-add.json"
    first.with_name("000-add.json.gz").write_bytes(gzip.compress(first.read_bytes()))
    first.unlink()
    return path


@pytest.fixture
def lines(folder):
    """lines(change) -> the packed file, with its lines changed by a function."""
    assert pack.main([str(folder)]) == 0
    path = folder / "records.jsonl.xz"

    def write(change):
        text = lzma.decompress(path.read_bytes()).decode().splitlines()
        path.write_bytes(lzma.compress("\n".join(change(text)).encode()))
        return path

    return write


def rows(*folders):
    """What the report reads there."""
    cases, problems = load(folders)
    return [(case.name, case.tuning, case.launches) for case in cases], problems


def outputs(folder, capsys):
    """All that the report writes and prints of a folder."""
    assert report.main([str(folder), "--json"]) == 0
    names = ("table.md", "table.csv", "p3.csv", "report/index.html")
    written = [(folder / name).read_bytes() for name in names]
    return written, capsys.readouterr().out


def refused(capsys, *words):
    """What the command says; nothing else has changed."""
    assert pack.main([*map(str, words)]) == 2
    return capsys.readouterr().err


def test_reports_of_packed_records_are_the_same(folder, capsys):
    before = outputs(folder, capsys)
    assert pack.main([str(folder)]) == 0
    said = capsys.readouterr().out
    assert f"{folder}/records.jsonl.xz: 3 files of {folder}/records\n" in said
    assert sorted(path.name for path in folder.glob("*.xz")) == [
        "records.jsonl.xz",
        "tuning.jsonl.xz",
    ]
    assert not (folder / "records").exists() and not (folder / "tuning").exists()
    assert outputs(folder, capsys) == before


def test_packed_files_are_the_same_for_the_same_records(folder):
    assert pack.main([str(folder)]) == 0
    first = (folder / "records.jsonl.xz").read_bytes()
    assert pack.main(["--unpack", str(folder)]) == 0
    assert pack.main([str(folder)]) == 0
    assert (folder / "records.jsonl.xz").read_bytes() == first


@pytest.mark.parametrize("name, indent", [("x.json", 1), ("run.json", 2)])
def test_texts_come_back_as_they_were(tmp_path, name, indent):
    """Of files that `league` writes to the byte: numbers are not rounded, escapes stay."""
    value = {"a": {"b": [], "c": {}, "d": [{"x": "µ\n"}]}, "n": json.loads(NUMBERS)}
    text = json.dumps(value, indent=indent, ensure_ascii=False) + "\n"
    text = text.replace("1e-05", "1.0e-5", 1).replace("0.1,", "0.10,")
    path = tmp_path / "records" / name
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    assert pack.main([str(tmp_path)]) == 0
    assert not path.exists() and pack.main(["--unpack", str(tmp_path)]) == 0
    assert path.read_text(encoding="utf-8") == text


def test_one_line_is_one_record(lines):
    text = lzma.decompress(lines(lambda text: text).read_bytes()).decode()
    found = [json.loads(line) for line in text.splitlines()]
    assert [one["file"] for one in found] == [
        "000-add.json",
        "001-add.json",
        "run.json",
    ]
    assert set(found[0]["record"]) == {"schema", "context", "comparison", "benchmarks"}


def test_any_of_folder_file_and_results_is_read(folder, tmp_path):
    whole, problems = rows(folder)
    assert len(whole) == 3 and not problems
    assert rows(folder / "records", folder / "tuning") == (whole, [])
    (folder / "records").rename(tmp_path / "other")  # known by its manifest
    assert rows(tmp_path / "other", folder / "tuning") == (whole, [])
    (tmp_path / "other").rename(folder / "records")
    assert pack.main([str(folder)]) == 0
    assert rows(folder) == (whole, [])
    files = [folder / f"{name}.jsonl.xz" for name in ("records", "tuning")]
    assert rows(*files) == (whole, [])
    assert report.main([str(files[0]), "--quiet"]) == 0
    assert (folder / "table.md").exists()
    assert report.main(["compare", str(files[0]), str(folder)]) == 0


def test_records_are_chosen_by_the_beginning_of_their_names(lines, folder):
    lines(lambda text: text)
    assert [one.name for one in record_files(folder, "001")] == ["001-add.json"]


@pytest.mark.parametrize("cut", [0, 6, 40, -20])
def test_a_damaged_file_is_named_and_nothing_of_it_used(lines, folder, cut, capsys):
    path = lines(lambda text: text)
    path.write_bytes(path.read_bytes()[:cut])
    found, (problem,) = rows(folder)
    assert not found
    assert f"{path}: not a whole xz file: " in problem
    assert "no record of this folder is used: take the file from where" in problem
    assert "not a whole xz file" in refused(capsys, folder, "--unpack")
    assert path.exists() and not (folder / "records").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", f"line 2: left out: {sources.FORM}"),
        ('{"file":"../x.json","record":{}}', f"line 2: left out: {sources.FORM}"),
        ('{"file":"x.json","record":{}', "line 2, x.json: left out: not a whole JSON"),
        (
            '{"file":"x.json","record":[]}',
            "line 2, x.json: left out: expected `object`",
        ),
        (
            '{"file":"x.json","record":{}}',
            "line 2, x.json: left out: 'schema' is missing",
        ),
        (
            '{"file":"x.json","record":{},"y":0}',
            "line 2, x.json: left out: not a whole",
        ),
    ],
)
def test_a_line_that_is_no_record_is_named(lines, folder, line, said):
    path = lines(lambda text: [text[0], line, *text[1:]])
    found, (problem,) = rows(folder)
    assert len(found) == 3, "the other lines are read"
    assert f"{path}: {said}" in problem
    assert problem.endswith(
        "; take the file from where it came from again, or remove the line"
    )


def test_a_name_of_two_lines_is_refused(lines, folder, capsys):
    path = lines(lambda text: [*text[:2], text[0].replace("1.0", "2.0"), text[2]])
    found, (problem,) = rows(folder)
    place = f"{path}: line 3, 000-add.json: "
    assert len(found) == 3
    assert f"{place}left out: line 1 has the same file name; take" in problem
    said = refused(capsys, "--unpack", folder)
    assert f"{place}line 1 has the same file name; take" in said and path.exists()


def test_packed_and_loose_beside_each_other_are_refused(lines, folder, entry, save):
    path = lines(lambda text: text)
    save([entry("cuda", [1.0] * 6)])
    found, (problem,) = rows(folder)
    assert not found
    beside = (
        f"{path}: {folder}/records beside it holds records too: move one of the two"
    )
    assert problem.startswith(beside)


def test_what_is_there_is_not_overwritten(lines, folder, entry, save, capsys):
    path = lines(lambda text: text)
    before = path.read_bytes()
    save([entry("cuda", [1.0] * 6)])
    for words, new in (([], path), (["--unpack"], folder / "records")):
        said = refused(capsys, *words, folder)
        assert f"{new}: exists already; move one of it and" in said
    assert path.read_bytes() == before and (folder / "records/record.json").exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.json", "{", "x.json: not a whole JSON file"),
        ("x.json", "[]", "x.json: not a JSON object; measure it again, or remove"),
        ("notes.txt", "", "holds 'notes.txt', which is no record: move it elsewhere"),
        (".x.json.part", "", "holds '.x.json.part', which is no record"),
        ("000-add.json", "{}", "is there compressed too: keep one of '000-add.json'"),
    ],
)
def test_a_folder_that_holds_something_else_stays(folder, capsys, name, text, said):
    (folder / "records" / name).write_text(text)
    assert said in refused(capsys, folder)
    assert not (folder / "records.jsonl.xz").exists()
    assert len(list((folder / "records").iterdir())) == 4


def test_a_folder_without_records_is_refused(tmp_path, capsys):
    said = refused(capsys, tmp_path)
    assert f"{tmp_path}: holds no records/ and no tuning/; give the folder" in said
    assert "holds no records.jsonl.xz" in refused(capsys, tmp_path, "--unpack")
    (tmp_path / "records").mkdir()
    assert f"{tmp_path}/records: holds no *.json; remove" in refused(capsys, tmp_path)


def test_what_was_written_is_read_before_anything_is_removed(
    folder, monkeypatch, capsys
):
    monkeypatch.setattr(pack, "compact", lambda text: re.sub(rb"0\.00\d", b"7", text))
    assert "is not what was to be written; nothing was" in refused(capsys, folder)
    assert len(sources.loose(folder / "records")) == 3
    assert not list(folder.glob(".part*")) and not list(folder.glob("*.xz"))
