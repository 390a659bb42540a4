# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records that cannot be used: one sentence names the file, what is wrong, what to do."""

import gzip
import json
import re

import pytest

from bench.report import __main__ as report
from bench.report import fields
from bench.report.merge import load

HUGE = 10**400
EVENT = {"device": 0, "stage": "add", "begin_s": 0.0, "end_s": 1.0}
DEEP: list = []
for _ in range(400):
    DEEP = [DEEP]


def changed(entry, **changes):
    return {**entry("cuda", [1.0] * 6), **changes}


@pytest.mark.parametrize(
    "change, message",
    [
        ({"status": "great"}, "'status' is 'great'"),
        ({"device_kind": "tpu"}, "'device_kind' is 'tpu'"),
        ({"method": None}, "'method' is missing"),
        ({"model": ["cuda"]}, "'model' has the wrong type: ['cuda']"),
        (
            {"samples": [1.0, "x"]},
            "'samples' holds 'x', not a time from 1e-12 to 1e+09 s",
        ),
        ({"samples": [1.0, "nan"]}, "'samples' holds 'nan'"),
        ({"samples": [1.0, float("nan")]}, "'samples' holds nan"),
        ({"samples": [1.0, float("inf")]}, "'samples' holds inf"),
        ({"samples": [1.0, True]}, "'samples' holds True"),
        ({"samples": [0.0]}, "'samples' holds 0.0"),
        ({"samples": [1.0, -1.0]}, "'samples' holds -1.0"),
        ({"samples": [1e-300]}, "'samples' holds 1e-300"),
        ({"samples": [1, HUGE]}, "'samples' holds 1000000"),
        ({"samples": [1.0, [1.0]]}, "'samples' holds [1.0]"),
        ({"samples": 1.0}, "'samples' has the wrong type"),
        ({"samples": []}, "passed, but holds no samples"),
        ({"latency_s": -1.0}, "'latency_s' holds -1.0"),
        ({"latency_s": "1"}, "'latency_s' holds '1'"),
        ({"sizes": 3}, "'sizes' has the wrong type"),
        (
            {"sizes": {"n": -5}},
            "'sizes.n' is -5, not a whole number from 0 to 2^63 - 1",
        ),
        ({"sizes": {"n": "12"}}, "'sizes.n' is '12'"),
        ({"sizes": {"n": HUGE}}, "'sizes.n' is 1000000"),
        ({"sizes": {"n": [1]}}, "'sizes.n' is [1]"),
        ({"parameters": {"seed": [1]}}, "'parameters.seed' has the wrong type: [1]"),
        ({"parameters": []}, "'parameters' has the wrong type"),
        ({"devices": 0}, "'devices' is 0, not a whole number from 1 to 2^63 - 1"),
        ({"devices": -2}, "'devices' is -2"),
        ({"devices": 1.5}, "'devices' has the wrong type: 1.5"),
        (
            {"cost": {"operations": -1}},
            "'operations' is -1, not a number from 0 to 1e+30",
        ),
        ({"cost": {"bytes": float("nan")}}, "'bytes' is nan"),
        ({"cost": {"bytes": float("inf")}}, "'bytes' is inf"),
        ({"cost": {"bytes": HUGE}}, "'bytes' is 1000000"),
        ({"cost": {"bytes": "many"}}, "'bytes' is 'many'"),
        (
            {"launch": {"team": "x"}},
            "'team' is 'x', not a whole number from 0 to 2^63 - 1",
        ),
        ({"launch": {"team": -64}}, "'team' is -64"),
        ({"stages": {"add": None}}, "'stages.add' is None"),
        ({"stages": {"add": -1e-3}}, "'stages.add' is -0.001"),
        ({"stages": {"add": float("nan")}}, "'stages.add' is nan"),
        ({"counts": {"candidates": 1.5}}, "'counts.candidates' is 1.5"),
        ({"counts": {"candidates": -1}}, "'counts.candidates' is -1"),
        ({"counts": [1]}, "'counts' has the wrong type: [1]"),
        ({"check": {"curves": [1.0]}}, "'curves' has the wrong type: [1.0]"),
        ({"check": {"curves": {"accuracy": 1.0}}}, "'accuracy' has the wrong type"),
        (
            {"check": {"curves": {"accuracy": [0.5, "x"]}}},
            "'curves.accuracy' is 'x', not a number",
        ),
        ({"expected": {"accuracy": 0.5}}, "'accuracy' has the wrong type: 0.5"),
        (
            {"expected": {"accuracy": [0.5]}},
            "'expected.accuracy' holds 1 values, not two",
        ),
        ({"expected": {"accuracy": [0, None]}}, "'expected.accuracy' is None"),
        ({"timeline": [{"device": 0}]}, "'stage' is missing"),
        (
            {"timeline": [{**EVENT, "end_s": -1.0}]},
            "'end_s' is -1.0, not a number from 0 to 1e+09",
        ),
        ({"timeline": [{**EVENT, "begin_s": float("nan")}]}, "'begin_s' is nan"),
        ({"timeline": [{**EVENT, "device": -1}]}, "'device' is -1"),
        ({"timeline": {}}, "'timeline' has the wrong type"),
        ({"sizes": {"n": DEEP}}, "'sizes.n' is"),
    ],
)
def test_a_broken_benchmark_leaves_its_file_out(entry, save, change, message):
    folder = save([entry("cuda", [1.0] * 6)], file="good.json")
    save([changed(entry, name="vector_add/bad", **change)], file="bad.json")
    cases, (problem,) = load([folder])
    assert len(cases) == 1
    start = f"{folder / 'records' / 'bad.json'}: left out: benchmark 'vector_add/bad': "
    assert problem.startswith(f"{start}{message}") and "\n" not in problem
    assert problem.endswith("; measure it again, or remove the file")


@pytest.mark.parametrize("key", ["llc_bytes", "memory_bytes"])
@pytest.mark.parametrize("value", [-1, HUGE, float("nan"), "50 MiB"])
def test_a_broken_device_leaves_its_file_out(entry, save, key, value):
    device = {"kind": "gpu", "index": 0, "name": "NVIDIA H200", key: value}
    folder = save([entry("cuda", [1.0] * 6)], devices=[device])
    cases, (problem,) = load([folder])
    assert cases == [] and f"left out: '{key}' is " in problem


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "not a whole JSON file"),
        (b"{", "not a whole JSON file"),
        (b"nothing", "not a whole JSON file"),
        (b"\xe4", "not UTF-8 at byte 0"),
        (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
        (b"[" * 9999, "nested too deeply"),
        (b"[" + b"9" * 9999 + b"]", "digits"),
        (b"[1, 2]", "'context' is missing"),
        (b'"text"', "'context' is missing"),
        (b'{"context": {}}', "'league' is missing"),
        (
            b'{"schema": 2, "context": {"date": "x"}, "benchmarks": []}',
            "'league' is missing",
        ),
        (
            b'{"schema": 2, "context": {"league": {}}, "benchmarks": []}',
            "'comparison' is missing",
        ),
        (
            b'{"schema": 2, "context": {"league": {}}, "comparison": "x"}',
            "'benchmarks' is missing",
        ),
        (
            b'{"schema": 2, "context": {"league": {}}, "comparison": "x", "benchmarks": []}',
            "holds no benchmarks",
        ),
        (
            b'{"schema": 2, "context": {"league": {}}, "comparison": "x", "benchmarks": [7]}',
            "benchmark 7: 'status' is missing",
        ),
        (b'{"context": {"league": {"git": 7}}}', "'git' has the wrong type: 7"),
    ],
)
def test_a_file_that_is_no_record_is_named(entry, save, data, message):
    folder = save([entry("cuda", [1.0] * 6)])
    (folder / "records" / "other.json").write_bytes(data)
    cases, (problem,) = load([folder])
    assert len(cases) == 1
    assert "other.json: left out: " in problem and message in problem
    assert problem.endswith("; measure it again, or remove the file")


def test_damaged_compressed_files_are_named(entry, save):
    folder = save([entry("cuda", [1.0] * 6)])
    whole = gzip.compress((folder / "records" / "record.json").read_bytes())
    wrong = bytearray(whole)
    wrong[len(whole) // 2] ^= 0xFF
    spoilt = {"cut": whole[:-20], "none": b"{}", "bad": whole[:9] + b"?", "flip": wrong}
    for name, data in spoilt.items():
        (folder / "records" / f"{name}.json.gz").write_bytes(data)
    cases, problems = load([folder])
    assert len(cases) == 1 and len(problems) == len(spoilt)
    for name in spoilt:
        text = next(text for text in problems if f"{name}.json.gz: left out: " in text)
        assert "not a whole gzip file" in text


def test_a_file_that_unpacks_to_too_much_is_named(entry, save, monkeypatch):
    folder = save([entry("cuda", [1.0] * 6)])
    monkeypatch.setattr(fields, "MAX_FILE_BYTES", 1 << 20)
    bomb = gzip.compress(b" " * (2 << 20))
    (folder / "records" / "bomb.json.gz").write_bytes(bomb)
    cases, (problem,) = load([folder])
    assert len(cases) == 1 and "bomb.json.gz: left out: holds more than" in problem


def test_what_cannot_be_read_is_named(entry, save):
    folder = save([entry("cuda", [1.0] * 6)])
    (folder / "records" / "folder.json").mkdir()
    cases, (problem,) = load([folder])
    assert len(cases) == 1
    assert "folder.json: left out: cannot be read: Is a directory" in problem


def test_two_equal_names_are_an_error(entry, save):
    folder = save([entry("cuda", [1.0] * 6), entry("cuda", [1.0] * 6)])
    assert "two benchmarks are named" in load([folder])[1][0]


def test_the_rest_is_reported_and_the_exit_code_says_so(entry, save, capsys):
    folder = save([entry("cuda", [1.0] * 6)])
    record = json.loads((folder / "records" / "record.json").read_text())
    record["benchmarks"][0]["cost"]["operations"] = -1
    (folder / "records" / "bad.json").write_text(json.dumps(record))
    assert report.main([str(folder)]) == 1
    out, err = capsys.readouterr()
    assert re.match(r"bench\.report: .*/bad\.json: left out: .*\n", err)
    assert err.count("bench.report: ") == 1
    assert "1.000 s" in out and "-" not in re.findall(r"\S+ GFLOP/s", out)
    page = (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "bad.json: left out: " in page


def test_signs_that_no_terminal_should_get(entry, save, capsys):
    """Escape sequences, as of a peer's last words, and halves of surrogates."""
    reason = "\033[31mred\033[0m\0\x9b \ud800 Ä 😀\nnext"
    rows = [entry("cuda", [1.0] * 6, method="a\33b"), entry("hip", reason=reason)]
    assert report.main([str(save(rows))]) == 0
    text = capsys.readouterr().out
    assert "?[31mred?[0m?? ? Ä 😀 next" in text and "a?b" in text
    assert not set("\033\0\x9b\ud800") & set(text)


def test_names_that_are_no_utf8_are_shown_somehow(entry, save, capsys):
    """A file's name, and a folder's."""
    folder = save([entry("cuda", [1.0] * 6)])
    path = folder.parent / "b\udce4d"
    folder.rename(path)
    (path / "records" / "\udcff.json").write_text("{")
    assert report.main([str(path)]) == 1
    assert ".json: left out: " in capsys.readouterr().err
    assert "?.json: left out: " in (path / "report" / "index.html").read_text("utf-8")
