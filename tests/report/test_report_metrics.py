# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Metrics of made-up names: read, pooled, in every table, on the page and in comparisons."""

import csv
import io
import json
import re

import pytest

from bench.report import __main__ as report
from bench.report.cells import every_case
from bench.report.merge import load
from bench.report.table import to_csv, to_markdown
from bench.report.terminal import to_terminal
from bench.report.view import groups

TIMES = [1e-3 + 1e-6 * n for n in range(8)]
PURR = [40.0 + n for n in range(8)]  # its median is 43.5
DUSTY = [0, 0, 1, 0, 4, 0, 0, 1]


def metric(name="purr", values=PURR, of="sample", unit="dB", **more):
    return {"name": name, "unit": unit, "of": of, "values": values, **more}


def mark(values=DUSTY):
    return metric("dusty", values, unit="", marks=True)


def markdown(rows):
    """The cells of the first table, by column."""
    text = to_markdown("", groups(rows), [], [])
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    head, _, *rest = ([c.strip() for c in line[1:-1].split(" |")] for line in lines)
    return [dict(zip(head, cells, strict=True)) for cells in rest]


def csv_of(rows):
    return list(csv.DictReader(io.StringIO(to_csv(rows))))


def test_every_table_has_a_column(entry, rows_of):
    rows = rows_of([entry("cuda", TIMES, metrics=[metric()]), entry("cub", TIMES)])
    with_one, without = sorted(
        markdown(rows), key=lambda cells: cells["model"] != "cuda"
    )
    told = "purr [dB]: 43.5 [40, 47]"
    assert (with_one["metrics"], without["metrics"]) == (told, "")
    assert told in to_terminal("", groups(rows), [], [])
    assert told in [line.cells["note"].below for line in every_case(rows)]
    line, other = sorted(csv_of(rows), key=lambda cells: cells["model"] != "cuda")
    names = ("metric_purr_dB", "metric_purr_dB_low", "metric_purr_dB_high")
    assert [line[name] for name in names] == ["43.5", "40", "47"]
    assert [other[name] for name in names] == ["", "", ""]


def test_json_and_page_are_written_with_it(entry, save, capsys):
    folder = save([entry("cuda", TIMES, metrics=[metric(), mark()])])
    assert report.main([str(folder), "--json"]) == 0
    (line,) = json.loads(capsys.readouterr().out)
    assert line["metric_purr_dB"] == "43.5" and line["metric_dusty"] == "3"
    page = (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "purr [dB]" in page and "3 of 8 samples" in page


def test_marked_samples_are_told(entry, save, capsys):
    entries = [
        entry("cuda", TIMES, metrics=[mark()]),
        entry("cub", TIMES, metrics=[mark([0] * 8)]),
    ]
    folder = save(entries)
    assert report.main([str(folder)]) == 0
    told = "dusty: 3 of 16 samples, in 1 of 2 cases"
    assert told in capsys.readouterr().out
    text = (folder / "table.md").read_text(encoding="utf-8")
    assert told in text and "| dusty: 3 of 8 samples |" in text


def test_what_marks_nothing_has_no_column_for_people(entry, rows_of):
    rows = rows_of([entry("cuda", TIMES, metrics=[mark([0] * 8)])])
    assert "metrics" not in markdown(rows)[0]
    assert csv_of(rows)[0]["metric_dusty"] == "0"


def test_launches_are_pooled_and_units_are_not(entry, all_rows):
    found = [
        metric("hops", [n], "launch", unit) for n, unit in ((3, ""), (5, ""), (7, "m"))
    ]
    rows = all_rows(
        *(
            (str(i), [entry("cuda", TIMES, metrics=[one])])
            for i, one in enumerate(found)
        )
    )
    (cells,) = markdown(rows)
    assert cells["metrics"] == "hops: 3 to 5; hops [m]: 7"


def test_counts_are_metrics(entry, all_rows):
    counts = {"candidates": 123456, "queries_by_all_rows": 0}
    more = {**counts, "candidates": 123460}
    rows = all_rows(
        ("1", [entry("cuda", TIMES, counts=counts)]),
        ("2", [entry("cuda", TIMES, counts=more)]),
    )
    (cells,) = markdown(rows)
    told = "candidates: 123,456 to 123,460; queries by all rows: 0"
    assert cells["metrics"] == told
    assert csv_of(rows)[0]["metric_candidates"] == "123458"


def test_a_failed_case_has_none(entry, save):
    bad = {"status": "failed", "reason": "wrong", "metrics": [metric()]}
    good = entry("cuda", TIMES, metrics=[metric()])
    folders = [
        save([good], "a", launch_id="1"),
        save([entry("cuda", TIMES, **bad)], "b", launch_id="2"),
    ]
    (case,), problems = load(folders)
    assert not problems and case.status == "failed" and case.metrics == {}


def test_comparisons_have_a_table_of_them(entry, save, capsys):
    louder = [2 * value for value in PURR]
    a = save([entry("cuda", TIMES, metrics=[metric()])], "a", launch_id="1")
    found = [metric(values=louder), mark()]
    b = save([entry("cuda", TIMES, metrics=found)], "b", launch_id="2")
    assert report.main(["compare", str(a), str(b)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (purr,) = [line for line in lines if "purr [dB]" in line]
    assert re.search(r"  43\.5 \[40, 47\] +87 \[80, 94\] +2\.000 \[", purr)
    (dusty,) = [line for line in lines if "dusty" in line]
    assert dusty.endswith("3 of 8 samples")
    assert report.main(["compare", str(a), str(b), "--markdown"]) == 0
    assert "| 43.5 [40, 47] | 87 [80, 94] | 2.000 [" in capsys.readouterr().out
    assert report.main(["compare", str(a), str(b), "--csv"]) == 0
    (cells,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (cells["metric_purr_dB_a"], cells["metric_purr_dB_b"]) == ("43.5", "87")
    assert cells["metric_dusty_b"] == "3" and "metric_dusty_a" not in cells


@pytest.mark.parametrize(
    "metrics, message",
    [
        ([metric(values=[1.0])], "'metrics' holds 1 values of 8 samples for purr"),
        ([metric(), metric(unit="W")], "'metrics' has two of purr"),
        ([metric(values=["loud"] * 8)], "'metrics[0].values[0]' is 'loud'"),
        ([metric(name="a b")], "'metrics[0].name' is 'a b'"),
        ([metric(unit="a\nb")], "'metrics[0].unit' is 'a\\nb'"),
        ([{"name": "purr"}], "'metrics[0].unit' is missing"),
        ({"purr": [1]}, "'metrics' is {'purr': [1]}: expected `array`"),
    ],
)
def test_a_broken_one_leaves_its_file_out(entry, save, metrics, message):
    cases, (problem,) = load([save([entry("cuda", TIMES, metrics=metrics)])])
    assert not cases and message in problem
