# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records that were damaged at random: never a traceback, and the rest is reported."""

import copy
import csv
import gzip
import json
import math
import random

import pytest

from bench.report import __main__ as report
from bench.report import page

TRIES = 120  # seeds; any more of them may be run by hand
NUMBERS = (-1, 0, 1, 0.5, 1e-300, 1e300, math.nan, math.inf, -math.inf, 2**63, 10**400)
WORDS = (
    "",
    "x",
    "NaN",
    "-inf",
    "1e3",
    "\ud800",
    "\0",
    "\033[31m",
    "$x_{",
    "<b>",
    "a/b",
)
OTHERS = (None, True, False, [], {}, [1], {"a": 1}, [[]], "y" * 5000)


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


VALUES = (*NUMBERS, *WORDS, *OTHERS, nested(300))


def place(record, rng):
    """The path to some value: mostly inside a row or the context, at any depth."""
    share, rows = rng.random(), record.get("benchmarks")
    path = (
        ["context", "league"] if share < 0.2 else ["benchmarks"] if share < 0.9 else []
    )
    if path == ["benchmarks"] and isinstance(rows, list) and rows:
        path.append(rng.randrange(len(rows)))
    value = record
    try:
        for key in path:
            value = value[key]
    except (KeyError, IndexError, TypeError):  # damaged before
        path, value = [], record
    while isinstance(value, (dict, list)) and value and rng.random() < 0.8:
        path.append(
            rng.choice(list(value) if isinstance(value, dict) else range(len(value)))
        )
        value = value[path[-1]]
    return path


def damaged(record, rng):
    """The record with one to three values removed, doubled or replaced."""
    record = copy.deepcopy(record)
    for _ in range(rng.randint(1, 3)):
        path = place(record, rng)
        if not path:
            continue
        parent = record
        for key in path[:-1]:
            parent = parent[key]
        key, action = path[-1], rng.random()
        if action < 0.15:
            del parent[key]
        elif action < 0.25 and isinstance(parent, list):
            parent.insert(key, copy.deepcopy(parent[key]))
        else:
            parent[key] = copy.deepcopy(rng.choice(VALUES))
    return record


def spoilt(data, rng):
    """The bytes of a file, cut, with some of them changed, or compressed and then so."""
    if rng.random() < 0.3:
        data = gzip.compress(data)
    kept = bytearray(data[: rng.randint(0, len(data))] if rng.random() < 0.3 else data)
    for _ in range(rng.randint(0, 3) if kept else 0):
        kept[rng.randrange(len(kept))] = rng.randrange(256)
    return bytes(kept)


def write(path, record, rng):
    """A damaged file; its name says whether it is compressed."""
    data = json.dumps(damaged(record, rng)).encode()
    if rng.random() < 0.25:
        data = spoilt(json.dumps(record).encode(), rng)
    path = path.with_suffix(".json.gz") if data[:2] == b"\x1f\x8b" else path
    path.write_bytes(data)
    return path


@pytest.fixture
def folder(entry, save):
    """A record with all that a record may hold, and one that stays whole."""
    line = [
        {"device": d, "stage": s, "begin_s": 0.1 * d, "end_s": 0.1 * d + 1e-3}
        for d in range(2)
        for s in ("copy in", "add")
    ]
    stages = {"upload": 1e-3, "copy in": 2e-4, "add": 1e-4, "download": 1e-3}
    more = {"latency_s": 2e-3, "stages": stages, "timeline": line}
    more["check"] = {"figures": {"accuracy": 0.9}}
    roof = {"algorithm": "ceilings", "method": "multiply_add"}
    entries = [
        entry("kokkos", [1e-3 + 1e-6 * i for i in range(8)], **more),
        entry("kokkos", [2e-3] * 6, "team=64", launch_source="explicit"),
        entry("kokkos", [3e-3] * 6, "team=128", launch_source="explicit"),
        entry("cuda", [1e-3 + 2e-6 * i for i in range(8)], **more),
        entry("cuda", [1e-3] * 6, null=True, name="vector_add/null:1"),
        entry("cuda", [6e-4] * 6, devices=2, metric="makespan", **more),
        entry("openmp", [1e-2] * 3),
        entry("hip"),
        entry("serial", status="failed", reason="row 3"),
        entry("cuda", [1e-3] * 6, **roof),
        entry("cuda", [1e-3] * 6, algorithm="ceilings", method="copy"),
    ]
    for number, one in enumerate(entries[1:3]):
        one["launch"]["team"] = 64 << number
    save([entry("cuda", [1e-3] * 6, n=4096)], file="whole.json")
    return save(entries, file="damaged.json")


def check(folder, code, messages):
    """What holds of a report whatever was in the damaged file."""
    lines = messages.splitlines()
    wrong = [line for line in lines if line.startswith("bench.report: ")]
    assert lines == wrong  # one line per problem, and nothing else: no traceback
    left_out = [line for line in wrong if "damaged.json" in line and "left out" in line]
    assert code == bool(wrong) == len(left_out)
    with (folder / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert any(row["sizes"].startswith("n=4096") for row in rows)
    for row in rows:
        figures = (
            "median_s",
            "rate",
            "portable_over_native",
            "floor_ratio",
            "latency_s",
        )
        for key in (*figures, "gap"):
            value = float(row[key] or 0)
            assert 0 <= value < math.inf


def test_damaged_records_are_left_out(folder, capsys, monkeypatch):
    monkeypatch.setattr(page, "render", lambda *_: "")  # their captions are made
    path = folder / "records" / "damaged.json"
    whole = json.loads(path.read_text())
    assert report.main([str(folder), "--quiet"]) == 0
    capsys.readouterr()
    codes = []
    for seed in range(TRIES):
        path.unlink(missing_ok=True)
        path = write(folder / "records" / "damaged.json", whole, random.Random(seed))
        codes.append(report.main([str(folder), "--quiet"]))
        check(folder, codes[-1], capsys.readouterr().err)
    assert 0.2 * TRIES < sum(codes) < TRIES  # some were left out, some are harmless
