# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command: its files, its terminal table, its exit codes."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.report import __main__ as report
from bench.report import page, terminal
from bench.report.units import interval, rate, seconds

ROOT = Path(__file__).resolve().parents[2]
HEADER = (
    "algorithm,method,model,dtype,sizes,devices,launch,median_s,ci_low_s,ci_high_s,"
    "portable_over_native,floor_ratio,verdict,reason,"
)
NASTY = 'a|b <script>alert(1)</script> `x` & "y"\nnext'


@pytest.fixture
def study(entry, save):
    """Two comparisons, with every kind of row."""
    save(
        [
            entry("kokkos", [1e-3 + 1e-7 * i for i in range(20)]),
            entry("kokkos", [2e-3] * 20, "league=132,team=1024"),
            entry("cuda", [1e-3 + 1e-7 * i for i in range(20)]),
            entry("hip", reason=NASTY),
            entry("openmp", [0.1] * 3),
            entry("serial", status="failed", reason="row 9 is wrong " * 20),
        ],
        file="large.json",
        preflight=["power cap 500 W <b>"],
    )
    return save([entry("cuda", [1e-6] * 6, n=1024)], file="small.json")


def read_csv(folder):
    return list(csv.DictReader(io.StringIO((folder / "table.csv").read_text())))


def test_csv(study):
    assert report.main([str(study), "--quiet"]) == 0
    text = (study / "table.csv").read_text()
    assert text.startswith(HEADER)
    assert len(text.splitlines()) > 1
    rows = read_csv(study)
    assert len(rows) == 7
    row = next(r for r in rows if r["model"] == "kokkos" and r["launch"] == "auto")
    assert (row["sizes"], row["devices"]) == ("n=268435456", "1")
    assert float(row["median_s"]) == pytest.approx(1.00095e-3)
    assert float(row["ci_low_s"]) < float(row["median_s"]) < float(row["ci_high_s"])
    assert (float(row["portable_over_native"]), row["verdict"]) == (1.0, "same")
    assert row["rate_unit"] == "GB/s" and float(row["rate"]) == pytest.approx(
        3218, 1e-3
    )
    few = next(r for r in rows if r["model"] == "openmp")
    assert (few["ci_low_s"], few["ci_high_s"], few["verdict"]) == ("", "", "")
    assert few["reason"].startswith("3 samples, range")
    bad = {r["model"]: r for r in rows if r["status"] != "passed"}
    assert bad["serial"]["verdict"] == "FAILED" and bad["hip"]["verdict"] == "skipped"
    assert bad["hip"]["reason"] == NASTY and bad["hip"]["median_s"] == ""


def test_every_table_names_versions_device_and_date_first(study, capsys):
    assert report.main([str(study)]) == 0
    html = (study / "report" / "index.html").read_text()
    lines = [
        (study / "table.md").read_text().splitlines()[0],
        capsys.readouterr().out.splitlines()[0],
        re.search(r"<(?:p|pre)>(.*)", html).group(1),
    ]
    for line in lines:
        for word in (
            "Kokkos 4.7.00",
            "NVIDIA H200",
            "Intel Xeon",
            "abc1234",
            "2025-11-21",
        ):
            assert word in line


def test_markdown_has_every_row_and_escapes(study):
    report.main([str(study), "--quiet"])
    text = (study / "table.md").read_text()
    rows = [line for line in text.splitlines() if line.startswith("| wide")]
    assert len(rows) == 7
    assert all(len(re.findall(r"(?<!\\)\|", row)) == 14 for row in rows)
    assert (
        "<script>" not in text and "a\\|b &lt;script&gt;" in text and "<b>" not in text
    )
    assert (
        "1.001 ms [" in text
        and "1.000 us" in text
        and "### vector_add f32 n=1,024, data in cache" in text
    )


@pytest.mark.parametrize("plain", [False, True])
def test_page_has_every_row_and_escapes(study, monkeypatch, plain):
    if plain:
        monkeypatch.setattr(page, "TEMPLATES", False)
    elif not page.TEMPLATES:
        pytest.skip("no jinja2 here")
    report.main([str(study), "--quiet"])
    text = (study / "report" / "index.html").read_text()
    assert text.count("FAILED</td>" if not plain else "FAILED |") == 1
    cases = text[text.index('id="cases"') :] if not plain else text
    row = "<tr data-algorithm" if not plain else "\n| wide"
    assert cases.count(row) == 7
    assert "<script>" not in text and "script&" in text


@pytest.mark.parametrize("width", [120, 140, 160])
def test_terminal_fits_and_loses_nothing(study, capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    report.main([str(study), "--verbose"])
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= width
    assert " ".join(text.split()).count("row 9 is wrong") == 20
    assert "\033" not in text  # not a terminal: no colour


def test_colour_only_on_a_terminal(study, monkeypatch):
    class Screen(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert terminal.wants_colour(Screen()) and not terminal.wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not terminal.wants_colour(Screen())


@pytest.mark.parametrize("shown", [[], ["--verbose"]])
def test_colours_do_not_change_the_text(shown, study, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    report.main([str(study), *shown])
    plain = capsys.readouterr().out
    monkeypatch.setattr(terminal, "wants_colour", lambda stream: True)
    report.main([str(study), *shown])
    coloured = capsys.readouterr().out
    assert "\033[31;1m" in coloured
    assert re.sub(r"\033\[[0-9;]*m", "", coloured) == plain


def test_json(study, capsys):
    report.main([str(study), "--json"])
    rows = json.loads(capsys.readouterr().out)
    assert rows == read_csv(study)


def test_broken_file_is_named_and_the_rest_is_shown(study, capsys):
    (study / "records" / "half.json").write_text('{"context": ')
    assert report.main([str(study), "--quiet"]) == 1
    assert "half.json: left out" in capsys.readouterr().err
    assert len(read_csv(study)) == 7


def test_bad_input(tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        report.main([str(tmp_path / "nowhere")])
    assert stop.value.code == 2 and "no such folder" in capsys.readouterr().err
    assert report.main([str(tmp_path)]) == 1
    assert "holds no records" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        report.main([str(tmp_path), "--margin", "2"])


def test_tables_that_cannot_be_written_are_an_error(study, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert report.main([str(study), "--output", str(tmp_path / "file"), "--quiet"]) == 1
    assert "cannot write the table" in capsys.readouterr().err


def test_output_elsewhere_and_several_folders(study, entry, save, tmp_path):
    two = save([entry("cuda", [1e-6] * 6, n=1024)], folder="two", launch_id="2")
    target = tmp_path / "out"
    code = report.main([str(study), str(two), "--output", str(target), "--quiet"])
    assert code == 0 and not (study / "table.csv").exists()
    assert [r["launches"] for r in read_csv(target)].count("2") == 1
    assert "2 launches" in (target / "table.md").read_text().splitlines()[0]


def test_runs_as_a_module_from_the_project(tmp_path):
    shutil.copytree(ROOT / "tests" / "data" / "report", tmp_path / "run")
    command = [sys.executable, "-m", "bench.report", str(tmp_path / "run")]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("COLUMNS", None)  # which pytest-xdist sets
    done = subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Kokkos / native" in done.stdout
    assert [r["verdict"] for r in read_csv(tmp_path / "run")] == [
        "skipped",
        "",
        "same",
        "",
    ]


def test_crossover(entry, save, capsys):
    slower = {64: 0.5, 4096: 0.99, 2**16: 0.8, 2**20: 0.97, 2**24: 1.0}
    for n, value in slower.items():
        both = [entry("cuda", [value] * 6, n=n), entry("kokkos", [1.0] * 6, n=n)]
        folder = save(both, file=f"{n}.json")
    report.main([str(folder), "--verbose"])
    level = "portable is within 5 % of native or faster from n = 2^20 on, measured up to 2^24"
    assert level in " ".join(capsys.readouterr().out.split())


def test_scaling_uses_the_host_clock_only(entry, save, capsys):
    save([entry("cuda", [0.9] * 6, latency_s=1.0)], file="1.json")
    for count, time in ((2, 0.5), (4, 0.3)):
        case = entry("cuda", [time] * 6, devices=count, metric="makespan")
        folder = save([case], file=f"{count}.json")
    save([entry("openmp", [0.9] * 6)], file="host.json")
    save([entry("openmp", [0.3] * 6, devices=3)], file="hosts.json")
    report.main([str(folder), "--verbose"])
    text = capsys.readouterr().out
    assert "2.00x on 2, 3.33x on 4" in text and "x on 3" not in text


@pytest.mark.parametrize(
    "value, text",
    [
        (2.5, "2.500 s"),
        (12.3456e-3, "12.35 ms"),
        (123.456e-6, "123.5 us"),
        (5e-9, "5.000 ns"),
        (5e-10, "0.500 ns"),
        (1234.5, "1234 s"),
    ],
)
def test_times(value, text):
    assert seconds(value) == text


def test_intervals_keep_one_unit():
    assert str(interval(1.1e-3, 0.9e-3, 1.2e-3)) == "1.100 ms [0.900, 1.200]"
    assert rate(4402.4, "GB/s") == "4402 GB/s" and rate(0.0123, "GB/s") == "0.0123 GB/s"
