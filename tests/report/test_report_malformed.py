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
        ({"method": None}, "'method' is None: expected `str`, got `null`"),
        ({"model": ["cuda"]}, "'model' is ['cuda']: expected `str`, got `array`"),
        (
            {"samples": [1.0, "x"]},
            "'samples[1]' is 'x': expected `float`, got `str`",
        ),
        ({"samples": [1.0, "nan"]}, "'samples[1]' is 'nan'"),
        ({"samples": [1.0, True]}, "'samples[1]' is True"),
        ({"samples": [0.0]}, "'samples[0]' is 0.0: expected `float` >= 1e-12"),
        ({"samples": [1.0, -1.0]}, "'samples[1]' is -1.0"),
        ({"samples": [1e-300]}, "'samples[0]' is 1e-300"),
        ({"samples": [1, HUGE]}, "'samples[1]' is 1000000"),
        ({"samples": [1.0, [1.0]]}, "'samples[1]' is [1.0]"),
        ({"samples": 1.0}, "'samples' is 1.0: expected `array`, got `float`"),
        ({"samples": []}, "passed, but holds no samples"),
        ({"latency_s": -1.0}, "'latency_s' is -1.0"),
        ({"latency_s": "1"}, "'latency_s' is '1'"),
        ({"sizes": 3}, "'sizes' is 3: expected `object`, got `int`"),
        (
            {"sizes": {"n": -5}},
            "'sizes.n' is -5: expected `int` >= 0",
        ),
        ({"sizes": {"n": "12"}}, "'sizes.n' is '12'"),
        ({"sizes": {"n": HUGE}}, "'sizes.n' is 1000000"),
        ({"sizes": {"n": [1]}}, "'sizes.n' is [1]"),
        (
            {"parameters": {"seed": [1]}},
            "'parameters.seed' is [1]: expected `int | float | str`",
        ),
        ({"parameters": []}, "'parameters' is []: expected `object`, got `array`"),
        ({"devices": 0}, "'devices' is 0: expected `int` >= 1"),
        ({"devices": -2}, "'devices' is -2"),
        ({"devices": 1.5}, "'devices' is 1.5: expected `int`, got `float`"),
        (
            {"cost": {"operations": -1}},
            "'cost.operations' is -1: expected `float` >= 0",
        ),
        ({"cost": {"bytes": HUGE}}, "'cost.bytes' is 1000000"),
        ({"cost": {"bytes": 1e31}}, "'cost.bytes' is 1e+31: expected `float` <= 1e+30"),
        ({"cost": {"bytes": "many"}}, "'cost.bytes' is 'many'"),
        (
            {"launch": {"team": "x"}},
            "'launch.team' is 'x': expected `int`, got `str`",
        ),
        ({"launch": {"team": -64}}, "'launch.team' is -64"),
        ({"stages": {"add": None}}, "'stages.add' is None"),
        ({"stages": {"add": -1e-3}}, "'stages.add' is -0.001"),
        ({"counts": {"candidates": 1.5}}, "'counts.candidates' is 1.5"),
        ({"counts": {"candidates": -1}}, "'counts.candidates' is -1"),
        ({"counts": [1]}, "'counts' is [1]: expected `object`"),
        ({"check": {"curves": [1.0]}}, "'check.curves' is [1.0]: expected `object`"),
        ({"check": {"curves": {"accuracy": 1.0}}}, "'check.curves.accuracy' is 1.0"),
        (
            {"check": {"curves": {"accuracy": [0.5, "x"]}}},
            "'check.curves.accuracy[1]' is 'x': expected `float`",
        ),
        ({"expected": {"accuracy": 0.5}}, "'expected.accuracy' is 0.5"),
        (
            {"expected": {"accuracy": [0.5]}},
            "'expected.accuracy' is [0.5]: expected `array` of length 2",
        ),
        ({"expected": {"accuracy": [0, None]}}, "'expected.accuracy[1]' is None"),
        ({"timeline": [{"device": 0}]}, "'timeline[0].stage' is missing"),
        (
            {"timeline": [{**EVENT, "end_s": -1.0}]},
            "'timeline[0].end_s' is -1.0, before it begins, at 0.0",
        ),
        ({"timeline": [{**EVENT, "begin_s": -1e10}]}, "'timeline[0].begin_s' is -1"),
        ({"timeline": [{**EVENT, "device": -1}]}, "'timeline[0].device' is -1"),
        ({"timeline": {}}, "'timeline' is {}: expected `array`, got `object`"),
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


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize(
    "change",
    [
        lambda value: {"samples": [1.0, value]},
        lambda value: {"cost": {"bytes": value}},
        lambda value: {"stages": {"add": value}},
        lambda value: {"timeline": [{**EVENT, "begin_s": value}]},
    ],
)
def test_what_json_has_no_number_for_leaves_its_file_out(entry, save, change, value):
    folder = save([entry("cuda", [1.0] * 6)], file="good.json")
    save([changed(entry, **change(value))], file="bad.json")
    cases, (problem,) = load([folder])
    assert len(cases) == 1
    assert "bad.json: left out: not a whole JSON file" in problem and "byte" in problem


@pytest.mark.parametrize("key", ["llc_bytes", "memory_bytes"])
@pytest.mark.parametrize("value", [-1, HUGE, None, "50 MiB"])
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
        (b"[" * 9999, "expected `object`, got `array`"),
        (b'{"x": ' + b"[" * 9999, "nested too deeply"),
        (b'{"schema": ' + b"9" * 9999 + b"}", "integer value out of range"),
        (b"[1, 2]", "it holds [1, 2]: expected `object`, got `array`"),
        (b'"text"', "it holds 'text': expected `object`"),
        (b"{}", "'schema' is missing"),
        (b'{"schema": 2, "context": {}}', "'context.league' is missing"),
        (
            b'{"schema": 2, "context": {"date": "x"}, "benchmarks": []}',
            "'context.league' is missing",
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
            "benchmark 7: it holds 7: expected `object`",
        ),
        (
            b'{"schema": 2, "context": {"league": {"git": 7}}}',
            "'context.league.git' is 7: expected `str`",
        ),
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
