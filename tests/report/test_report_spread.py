# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The spread between two runs, and the smallest difference that a verdict would find."""

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.report import __main__ as report
from bench.report import detectable, spread, statistics
from bench.report.statistics import Estimate, standard_error

STEADY = [1 + 0.0005 * i for i in range(-5, 6)]
SHARES = st.floats(1e-5, 0.3)


def times(middle):
    return [middle * factor for factor in STEADY]


def ratios(*values):
    return [Estimate(value, value * 0.999, value * 1.001) for value in values]


@pytest.fixture(name="runs")
def two_runs(entry, save):
    """runs(ratios A / B, change of B's context...) -> the arguments of compare."""

    def make(found, model="cuda", **changes):
        a = [entry(model, times(1e-3), n=2**i) for i in range(len(found))]
        b = [entry(model, times(1e-3 / r), n=2**i) for i, r in enumerate(found)]
        first = save(a, folder="A", launch_id="a")
        return [str(first), str(save(b, folder="B", launch_id="b", **changes))]

    return make


def compare(capsys, *arguments):
    code = report.main(["compare", *arguments])
    text = capsys.readouterr().out
    report.main(["compare", *arguments, "--csv"])
    return code, text, list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


SCATTERED = [1.05, 0.95, 1.04, 0.96, 1.03, 0.97, 1.01, 0.99, 1.0, 1.0]


def test_two_devices_of_one_name_scatter_without_a_verdict(runs, capsys):
    """One build on two hosts: nothing changed, whatever one case says."""
    folders = runs(SCATTERED, host="n2")
    code, text, lines = compare(capsys, *folders, "--fail-on-regression")
    assert code == 0 and "A and B differ in: host n1 | n2" in text
    assert "NVIDIA H200: margin 5.3 %; spread between the runs 5.3 %" in text
    assert "regressions: 0, improvements: 0" in text
    assert {line["verdict"] for line in lines} <= {"same", "faster", "slower"}
    assert {line["regression"] for line in lines} == {"0"}


def test_a_quiet_pair_of_runs_keeps_the_margin(runs, capsys):
    _, text, lines = compare(capsys, *runs([1.001, 0.999] * 5, host="n2"))
    assert "margin 2 %; spread between the runs 0.1 %" in text
    assert {line["verdict"] for line in lines} == {"same"}


def test_regressions_of_a_build_do_not_hide_themselves(runs, capsys):
    """Of twenty cases nine are 10 % slower: the other side says how far runs are apart."""
    folders = runs([0.9] * 9 + [1.005, 1.0, 0.995] * 3 + [1.0] * 2, git="new")
    code, text, _ = compare(capsys, *folders, "--fail-on-regression")
    assert code == 1 and "regressions: 9, improvements: 0" in text
    assert "NVIDIA H200: margin 2 %" in text
    assert "A and B differ in: git abc1234 | new" in text


def test_a_build_that_is_slower_throughout_is_told(runs, capsys):
    code, text, _ = compare(capsys, *runs([0.9] * 10, git="n"), "--fail-on-regression")
    assert code == 1 and "regressions: 10" in text


def test_devices_of_two_names_keep_the_margin(runs, capsys, entry, save):
    a, _ = runs([1.0])
    h100 = {"kind": "gpu", "index": 0, "name": "NVIDIA H100", "llc_bytes": 1}
    rows = [entry("cuda", times(1e-3), n=1, device_name="NVIDIA H100")]
    b = save(rows, folder="C", launch_id="c", devices=[h100], host="n2")
    _, text, _ = compare(capsys, a, str(b))
    assert "margin" not in text and "1 same" in text


def test_few_cases_say_so(runs, capsys):
    _, text, _ = compare(capsys, *runs([1.0] * 7, host="n2"))
    assert "not known: 7 cases, fewer than 8" in text


@given(st.lists(st.floats(0.5, 2), min_size=8, max_size=60))
def test_the_spread_is_symmetric_in_the_runs(values):
    back = [1 / value for value in values]
    for estimator in (spread.of_one_build, spread.of_two_builds):
        forth = estimator(ratios(*values))
        assert forth >= 0 and forth == pytest.approx(estimator(ratios(*back)))


@given(st.lists(st.floats(0.5, 2), min_size=8, max_size=60), st.floats(0.5, 2))
def test_a_common_shift_of_two_builds_is_no_spread(values, shift):
    moved = [value * shift for value in values]
    assert spread.of_two_builds(ratios(*moved)) == pytest.approx(
        spread.of_two_builds(ratios(*values)), abs=1e-9
    )


def test_the_spread_of_normal_ratios_is_two_deviations():
    rng = np.random.default_rng(1)
    values = np.exp(rng.normal(0, 0.02, 4000))
    for estimator in (spread.of_one_build, spread.of_two_builds):
        assert estimator(ratios(*values)) == pytest.approx(0.04, abs=0.004)


def test_the_standard_error_is_that_of_the_interval():
    ends = [math.exp(sign * statistics.NORMAL * 0.01) for sign in (-1, 1)]
    assert standard_error(Estimate(1.0, *ends)) == pytest.approx(0.01)


@given(SHARES, SHARES, st.floats(0, 0.1))
def test_a_wider_interval_detects_less_beyond_the_margin(one, two, margin):
    low, high = sorted((one, two))
    least = [detectable.smallest(error, margin) for error in (low, high)]
    if math.log1p(margin) <= 2 * statistics.NORMAL * low:  # the margin does not bind
        assert least[0] <= least[1]
    assert least[0] >= detectable.smallest(low, 0) - 1e-12


def test_without_a_margin_it_is_the_textbook_figure():
    assert math.log1p(detectable.smallest(0.01, 0)) == pytest.approx(0.028016, rel=1e-4)
    assert detectable.smallest(0.0, 0.02) == pytest.approx(0.02)


def test_its_texts():
    shares = (None, 0.0134, 0.2, 400.0)
    texts = [detectable.text(share) for share in shares]
    assert texts == ["", "1.3 %", "20 %", "over 100 %"]
    (line,) = detectable.texts([*shares, 400.0])
    assert line.endswith(": over 100 % in the median of 4 rows (1.3 % to over 100 %)")
    assert detectable.texts([None]) == []


@pytest.mark.parametrize("error", [0.001, 0.004, 0.01, 0.05])
@pytest.mark.parametrize("margin", [0.0, 0.02, 0.1])
def test_the_verdict_finds_it_four_times_in_five(error, margin):
    rng = np.random.default_rng(7)
    least = math.log1p(detectable.smallest(error, margin))
    half = statistics.NORMAL * error
    verdicts = [
        statistics.verdict(math.exp(x - half), math.exp(x + half), margin)
        for x in rng.normal(least, error, 4000)
    ]
    assert verdicts.count("slower") / 4000 == pytest.approx(0.8, abs=0.02)


def test_real_launches_and_samples_find_it(entry, all_rows):
    """The figure of a row, from its samples: a change of that size is called, mostly."""
    rng, found = np.random.default_rng(3), 0

    def launches(middle):
        """Five launches of 20 samples: 0.3 % between launches, 1 % within."""
        for _ in range(5):
            yield list(middle * np.exp(rng.normal(0, 0.003) + rng.normal(0, 0.01, 20)))

    for _ in range(40):
        before = list(launches(1e-3))
        error = standard_error(
            statistics.independent_ratio(before, list(launches(1e-3)))
        )
        change = 1 + detectable.smallest(error, 0.0)
        ratio = statistics.independent_ratio(before, list(launches(1e-3 / change)))
        found += statistics.verdict(*ratio.interval, 0.0) == "slower"
    assert found >= 24  # 80 % of 40; few launches make the intervals scatter


def test_every_row_has_its_figure_in_the_tables(entry, save, capsys):
    rows = [
        entry("cuda", times(1e-3)),
        entry("kokkos", times(1e-3)),
        entry("cublas", times(1e-3)),
        entry("cupy", [1e-3] * 3),
    ]
    folder = save(rows)
    assert report.main([str(folder)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "smallest detectable difference (80 % probability): " in said
    lines = csv.DictReader((folder / "table.csv").read_text().splitlines())
    of = {line["model"]: line["detectable"] for line in lines}
    assert of["cupy"] == "", "three samples have no interval"
    assert all(0.01 < float(of[m]) < 0.03 for m in ("cuda", "kokkos", "cublas"))
    text = (folder / "table.md").read_text()
    assert "| detectable |" in text and "in the median of 3 rows" in text
    assert "detectable" in (folder / "report/index.html").read_text()


def test_a_pair_of_compare_has_its_own(runs, capsys):
    _, text, lines = compare(capsys, *runs([1.0] * 9, host="n2"))
    assert {float(line["detectable"]) < 0.03 for line in lines} == {True}
    assert "smallest detectable difference (80 % probability)" in text
