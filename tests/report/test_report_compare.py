# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two folders side by side: pairs, regressions, refusals, exit codes."""

import csv
import io

import pytest

from bench.report import __main__ as report

STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


def times(middle):
    return [middle * factor for factor in STEADY]


@pytest.fixture
def runs(entry, save):
    """runs(a, b) -> the folders A and B of these entries."""

    def write(a, b):
        first = save(a, folder="A", launch_id="a1", git="aaa")
        return [str(first), str(save(b, folder="B", launch_id="b1", git="bbb"))]

    return write


def compare(capsys, *arguments):
    code = report.main(["compare", *arguments])
    return code, capsys.readouterr()


def table(capsys, *arguments):
    code, text = compare(capsys, *arguments, "--csv")
    return code, list(csv.DictReader(io.StringIO(text.out)))


@pytest.mark.parametrize(
    "after, verdict, regression, improvement",
    [
        (1.0e-3, "same", "0", "0"),
        (1.015e-3, "same", "0", "0"),
        (1.1e-3, "slower", "1", "0"),
        (0.9e-3, "faster", "0", "1"),
    ],
)
def test_times_slower_in_b(
    entry, runs, capsys, after, verdict, regression, improvement
):
    folders = runs([entry("cuda", times(1e-3))], [entry("cuda", times(after))])
    code, (line,) = table(capsys, *folders)
    assert code == 0 and line["verdict"] == verdict
    assert float(line["b_over_a"]) == pytest.approx(after / 1e-3)
    ends = float(line["b_over_a_low"]), float(line["b_over_a_high"])
    assert ends[0] <= float(line["b_over_a"]) <= ends[1]
    assert (line["regression"], line["improvement"]) == (regression, improvement)


def test_the_geometric_mean_of_all_ratios(entry, runs, capsys):
    both = [entry("cuda", times(1e-3)), entry("kokkos", times(1e-3))]
    other = [entry("cuda", times(4e-3)), entry("kokkos", times(1e-3))]
    _, text = compare(capsys, *runs(both, other))
    assert text.out.rstrip().endswith("; B / A 2.000 in the geometric mean")
    _, text = compare(
        capsys, *runs([entry("cuda", times(1e-3))], [entry("hip", times(1e-3))])
    )
    assert "geometric mean" not in text.out


def test_fails_on_a_regression_only_if_asked(entry, runs, capsys):
    slow = runs([entry("cuda", times(1e-3))], [entry("cuda", times(2e-3))])
    assert compare(capsys, *slow)[0] == 0
    assert compare(capsys, *slow, "--fail-on-regression")[0] == 1
    assert compare(capsys, *reversed(slow), "--fail-on-regression")[0] == 0
    code, _ = compare(capsys, *slow, "--fail-on-regression", "--margin", "0.99")
    assert code == 1  # [1 / 1.99, 1.99] does not hold a ratio of 2
    almost = runs([entry("cuda", times(1e-3))], [entry("cuda", times(1.5e-3))])
    code, _ = compare(capsys, *almost, "--fail-on-regression", "--margin", "0.9")
    assert code == 0


def test_a_verdict_within_the_margin_is_no_regression(entry, runs, capsys):
    wide = [1e-3 * factor for factor in (1.005, 1.0052, 1.018, 1.04, 1.05, 1.06)] * 2
    steady = [1e-3] * 12
    folders = runs([entry("cuda", steady)], [entry("cuda", wide)])
    code, (line,) = table(capsys, *folders, "--fail-on-regression", "--margin", "0.035")
    assert code == 0 and line["verdict"] == "slower" and line["regression"] == "0"


def test_only_in_one_folder(entry, runs, capsys):
    a, b = [entry("cuda", times(1), n=1)], [entry("cuda", times(1), n=2)]
    both = entry("kokkos", times(1))
    code, text = compare(capsys, *runs([*a, both], [*b, both]))
    assert code == 0 and "only in A: 1, only in B: 1" in text.out
    assert f"only in A: {a[0]['name']}" in text.out
    assert f"only in B: {b[0]['name']}" in text.out
    assert "git aaa" in text.out and "git bbb" in text.out


def test_nothing_in_common_is_an_error(entry, runs, capsys):
    folders = runs([entry("cuda", times(1), n=1)], [entry("cuda", times(1), n=2)])
    code, text = compare(capsys, *folders)
    assert code == 1 and "no case is in both" in text.err


@pytest.mark.parametrize(
    "change, words",
    [
        ({"parameters": {"seed": 2}}, "different parameters"),
        ({"metric": "host_time"}, "different metric"),
        ({"sizes": {"n": 2**28, "dimension": 3}}, "different sizes"),
    ],
)
def test_unlike_cases_are_refused(entry, runs, capsys, change, words):
    a = entry("cuda", times(1e-3))
    code, (line,) = table(capsys, *runs([a], [{**a, **change}]), "--fail-on-regression")
    assert code == 0 and line["verdict"] == "not compared"
    assert line["reason"].startswith(words) and line["b_over_a"] == ""


def test_what_begins_to_fail_is_a_regression(entry, runs, capsys):
    good = entry("cuda", times(1e-3))
    bad = {**good, "status": "failed", "reason": "row 7: 3 instead of 4"}
    code, (line,) = table(capsys, *runs([good], [bad]), "--fail-on-regression")
    assert code == 1 and line["b_over_a"] == "" and line["regression"] == "1"
    assert line["reason"] == "failed in B: row 7: 3 instead of 4"
    code, (line,) = table(capsys, *runs([bad], [good]), "--fail-on-regression")
    assert code == 0 and line["reason"].startswith("failed in A")


def test_two_builds_in_one_folder_are_refused(entry, save, capsys):
    a = save([entry("cuda", times(1))], folder="A", file="1.json", git="one")
    save([entry("cuda", times(1))], folder="A", file="2.json", git="two")
    b = save([entry("cuda", times(1))], folder="B", git="three")
    _, (line,) = table(capsys, str(a), str(b))
    assert line["verdict"] == "not compared"
    assert line["reason"] == "A has it of 2 builds (git one | two)"


def test_few_samples_and_one_launch_are_said(entry, runs, capsys):
    folders = runs([entry("cuda", [1.0] * 3)], [entry("cuda", [2.0] * 3)])
    code, text = compare(capsys, *folders, "--fail-on-regression")
    assert code == 0 and "too few samples for an interval" in text.out
    assert "fewer than 3 launches" in text.out


def test_null_tests_stay_out(entry, runs, capsys):
    one = entry("cuda", times(1e-3))
    null = {**one, "name": one["name"] + "/null:1", "null": True}
    _, lines = table(capsys, *runs([one, null], [one, null]))
    assert len(lines) == 1


def test_markdown_shows_what_changed_first(entry, runs, capsys):
    same, slow = entry("cuda", times(1e-3)), entry("kokkos", times(1e-3))
    slower = entry("kokkos", times(2e-3))
    _, text = compare(capsys, *runs([same, slow], [same, slower]), "--markdown")
    rows = [line for line in text.out.splitlines() if line.startswith("| vector")]
    assert len(rows) == 2 and "regression" in rows[0] and "model:kokkos" in rows[0]
    assert "2 cases in both: 1 same, 1 slower; regressions: 1" in text.out


def test_bad_input(entry, save, tmp_path, capsys):
    a = save([entry("cuda", times(1))], folder="A")
    with pytest.raises(SystemExit) as stop:
        report.main(["compare", str(a), str(tmp_path / "nowhere")])
    assert stop.value.code == 2 and "no such folder" in capsys.readouterr().err
    (a / "records" / "half.json").write_text('{"context": ')
    b = save([entry("cuda", times(1))], folder="B", launch_id="2")
    code, text = compare(capsys, str(a), str(b))
    assert code == 1 and "half.json: left out" in text.err
    assert "1 cases in both" in text.out


@pytest.mark.parametrize(
    "before, after, missing",
    [
        ({}, None, True),
        ({}, {"status": "skipped"}, True),
        ({"status": "failed"}, None, False),
        ({"status": "skipped"}, None, False),
    ],
)
def test_a_row_that_is_missing_in_b_is_a_regression(
    entry, runs, capsys, before, after, missing
):
    there = entry("kokkos", times(1e-3))
    lost = entry("cuda", times(1e-3), **before)
    later = [] if after is None else [entry("cuda", times(1e-3), **after)]
    folders = runs([there, lost], [there, *later])
    code, text = compare(capsys, *folders, "--fail-on-regression")
    assert code == int(missing)
    assert (f"{lost['name']}: a regression, missing in B" in text.out) == missing
    assert f"missing in B: {int(missing)}, " in text.out
    assert compare(capsys, *folders)[0] == 0
