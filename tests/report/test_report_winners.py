# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the command prints unless told otherwise: winners, failures, what did not run, where everything lies."""

import re

import pytest

from bench.report import __main__ as report
from bench.report.terminal import SUMMARY

GONE = "no module of that name in this interpreter"


@pytest.fixture
def folder(entry, save):
    """Two problems: the first is won by a peer, the second has native and portable level."""
    fast, slow = (
        [1e-3 + 1e-7 * i for i in range(20)],
        [2e-3 + 1e-7 * i for i in range(20)],
    )
    save(
        [
            entry("kokkos", slow),
            entry("cuda", fast),
            entry("pytorch", [5e-4] * 20, method="compiled", kind="gpu"),
            *(entry(f"peer{i}", reason=GONE, kind="gpu") for i in range(7)),
            entry("hip", reason="not built"),
            entry("serial", status="failed", reason="row 9 is wrong " * 20),
        ],
        file="large.json",
        preflight=["power cap 500 W"],
    )
    return save(
        [entry("kokkos", fast, n=1024), entry("cuda", fast, n=1024)], file="small.json"
    )


def told(folder, capsys, *options):
    """Exit code, stdout and stderr."""
    code = report.main([str(folder), *options])
    return code, *capsys.readouterr()


def winners(text):
    """The lines of the table."""
    return [line for line in text.splitlines() if line.startswith("vector_add")]


def test_a_line_a_problem(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    code, out, _ = told(folder, capsys)
    assert code == 0
    small, large = winners(out)
    assert re.search(
        r"1,024 +1 ms wide +1 ms cuda +1\.00 \[1\.00, 1\.00\] +same +1 ms \w+", small
    )
    assert re.search(
        r"2\^28 +2 ms wide +1 ms cuda +2\.00 \[2\.00, 2\.00\] +slower +500 us pytor.* +4\.00$",
        large,
    )
    assert "power cap" in out and "Kokkos 4.7.00" in out


@pytest.mark.parametrize("columns", ["20", "80", "109", "110", "120", "400"])
def test_it_fits_and_failures_are_whole(folder, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    _, out, _ = told(folder, capsys)
    assert max(map(len, out.splitlines())) <= min(
        max(int(columns), SUMMARY[0]), SUMMARY[1]
    )
    words = " ".join(out.split())
    assert len(winners(out)) == 2 and words.count("row 9 is wrong") == 20
    assert "slower" in out and "same" in out


def test_what_did_not_run_is_counted_by_reason(folder, capsys):
    _, out, err = told(folder, capsys)
    assert GONE not in out and "skipped" not in out
    line, where = err.splitlines()
    assert line == f"8 of 14 cases did not run (--show-skipped): 7 {GONE}; 1 not built"
    assert all(
        f"{folder}/{name}" in where
        for name in ("records", "table.csv", "report/index.html")
    )


def test_what_did_not_run_is_listed_on_demand(folder, capsys):
    _, out, err = told(folder, capsys, "--show-skipped")
    listed = [line for line in err.splitlines() if line.startswith("skipped ")]
    assert len(listed) == 8 and len(winners(out)) == 2
    assert sum(line.endswith(f": {GONE}") for line in listed) == 7


def test_many_reasons_are_cut(entry, save, capsys):
    rows = [
        entry(f"peer{i}", reason=f"reason {min(i, 9)}", kind="gpu") for i in range(12)
    ]
    _, _, err = told(save([entry("cuda", [1.0] * 6), *rows]), capsys)
    assert "12 of 13 cases did not run" in err
    assert (
        "3 reason 9; 1 reason 0; 1 reason 1; 1 reason 2; 6 for 6 other reasons" in err
    )


def test_where_nobody_can_win_every_case_is_shown(entry, save, capsys):
    _, out, err = told(save([entry("cuda", [1.0] * 6)]), capsys)
    assert "1.000 s [" in out and "did not run" not in err


def test_each_model_has_a_column_of_its_own(entry, save, capsys, monkeypatch):
    """A specialised time never stands under written once; the best library beside the best of all."""
    monkeypatch.setenv("COLUMNS", "160")
    rows = [
        entry("kokkos", [4e-3] * 8),
        entry("cuda", [3e-3] * 8),
        entry("kokkos_specialised", [2e-3] * 8, kind="gpu", method="mma"),
        entry("cuda", [5e-4] * 8, method="wgmma"),
        entry("cub", [6e-4] * 8, method="transform"),
        entry("kokkos_specialised", [7e-3] * 8, kind="gpu", dtype="f64"),
        entry("cuda", [7e-3] * 8, dtype="f64"),
    ]
    out = told(save(rows), capsys)[1]
    head = next(line for line in out.splitlines() if line.startswith("problem"))
    one, other = winners(out)

    def under(line, name):
        return line[head.index(name) :].lstrip() if name in head else ""

    assert under(one, "written once").startswith("4 ms wide")
    assert under(one, "specialised").startswith("2 ms mma")
    assert under(one, "native").startswith("3 ms cuda")
    assert under(one, "best of all").startswith("500 us cuda wgmma")
    assert under(one, "best library").startswith("600 us cub")
    assert under(other, "written once").startswith("7 ms wide"), (
        "the column before is blank"
    )
    assert other[head.index("written once") :].startswith("   ")
    assert "slower" in one and "1.33 [1.33, 1.33]" in one and one.endswith(" 8.00")


def test_the_fastest_method_stands_for_kokkos_though_nothing_native_has_it(
    entry, save, capsys
):
    rows = [entry(m, [t] * 8) for m, t in (("kokkos", 2e-3), ("cuda", 1e-3))]
    rows.append(entry("kokkos", [1e-4] * 8, method="own"))
    (line,) = winners(told(save(rows), capsys)[1])
    assert "100 us" in line and "slower" not in line and "faster" not in line


def test_unresolved_ratios_are_counted_with_what_narrows_them(
    folder, entry, save, capsys
):
    assert "unresolved" not in told(folder, capsys)[1]
    noisy = [1e-3, 1.1e-3] * 5
    save([entry("kokkos", noisy, n=64), entry("cuda", noisy, n=64)], file="noisy.json")
    _, out, _ = told(folder, capsys)
    words = " ".join(out.split())
    assert "unresolved: 1 of 3 ratios of portable and native" in words
    assert "--set time_limit=10" in words and "--repeat 5" in words
    assert "unresolved: 1 of 3 ratios" in (folder / "table.md").read_text()


def test_all_rows_are_there_with_verbose(folder, capsys):
    _, out, _ = told(folder, capsys, "--verbose")
    assert out.count(GONE) == 7 and "2.001 ms [" in out


def test_quiet_and_json_stay_alone(folder, capsys):
    assert told(folder, capsys, "--quiet") == (0, "", "")
    _, out, err = told(folder, capsys, "--json")
    assert out.startswith("[") and err == ""
