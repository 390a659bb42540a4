# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launch maps, regret, and null tests, by hand."""

import pytest

from bench.report import __main__ as report
from bench.report import launches, nulls
from bench.report.launches import second_axis
from bench.report.selection import measured, of_study

STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


def times(middle):
    return [middle * factor for factor in STEADY]


def launched(entry, team, vector, time, requested=None, league=132, **changes):
    text = requested or f"team={team},vector={vector}"
    shape = {"requested": text, "league": league, "team": team, "vector": vector}
    one = entry("kokkos", times(time), text, **changes)
    return {**one, "launch": shape}


def test_map_and_regret(entry, rows_of):
    rows = rows_of(
        [
            launched(entry, 128, 1, 1.2e-3, "auto"),
            launched(entry, 128, 1, 1.3e-3),  # the same cell as auto: the faster counts
            launched(entry, 64, 4, 1.0e-3),
            launched(entry, 64, 8, 1.5e-3),
            entry("cuda", times(0.5e-3)),
        ]
    )
    (found,) = launches.maps(rows)
    assert found.axis == "vector"
    medians = {place: row.median for place, row in found.cells.items()}
    assert medians == {
        (128, 1): pytest.approx(1.2e-3),
        (64, 4): pytest.approx(1.0e-3),
        (64, 8): pytest.approx(1.5e-3),
    }
    assert found.automatic.case.launch == "auto"
    assert found.best.case.launch == "team=64,vector=4"
    assert found.regret.value == pytest.approx(0.2)
    assert found.regret.low < 0.2 < found.regret.high
    count, text = launches.texts([found])
    assert "0 of 1 automatic ones" in count
    assert "costs 20.0 % over the best of 4 (league=132,team=64,vector=4)" in text
    (count,) = launches.texts([found], margin=0.3)
    assert "1 of 1 automatic ones are not surely more than 30 %" in count


def test_candidates_of_a_search_make_a_map_of_their_own(entry, rows_of):
    search = [
        launched(entry, team, 1, 1e-3, league=league, tuning=True)
        for team, league in ((32, 10), (32, 20), (64, 40))
    ]
    for i, one in enumerate(search):
        one["name"] += f"/candidate:{i}"
    rows = rows_of([*search, launched(entry, 128, 1, 2e-3, "auto")])
    (found,) = launches.maps(rows)
    assert found.axis == "league" and len(found.cells) == 3
    assert found.automatic is None and found.regret is None
    assert [row.case.launch for row in measured(rows)] == ["auto"]


def test_the_best_of_a_search_is_the_one_that_it_confirmed(entry, rows_of):
    search = [
        launched(entry, 32, 1, 0.9e-3, tuning=True),  # lucky
        launched(entry, 64, 1, 1.0e-3, tuning=True, best=True),
        launched(entry, 128, 1, 1.2e-3, "auto", tuning=True),
    ]
    (found,) = launches.maps(rows_of(search))
    assert found.best.case.launch == "team=64,vector=1"
    assert found.regret.value == pytest.approx(0.2)


def test_a_tuned_launch_that_was_refused_is_said(entry, rows_of):
    one = launched(entry, 64, 1, 1e-3, "auto", launch_source="tuned")
    (row,) = rows_of([{**one, "launch_note": "automatic launch: refused"}])
    assert "automatic launch: refused" in row.note
    assert row.case.launch_source == "tuned"


def test_a_report_of_a_search_alone_shows_its_candidates(entry, save, capsys):
    teams = [launched(entry, team, 1, 1e-3, tuning=True) for team in (32, 64, 128)]
    folder = save(teams)
    (folder / "records").rename(folder / "tuning")
    assert report.main([str(folder)]) == 0
    assert capsys.readouterr().out.count("team=32,vector=1") == 1


def test_tuned_launches_are_not_automatic(entry, rows_of):
    rows = rows_of(
        [
            launched(entry, 32, 1, 1e-3, "tuned", launch_source="tuned"),
            launched(entry, 64, 1, 2e-3, "auto", launch_source="auto"),
            launched(entry, 64, 2, 3e-3, launch_source="explicit"),
        ]
    )
    (found,) = launches.maps(rows)
    assert found.automatic.case.launch == "auto"
    assert found.regret.value == pytest.approx(1.0)


def test_regrets_without_an_interval_are_not_counted(entry, rows_of):
    """Five samples do not say whether an automatic launch is as good as the best."""
    few = [launched(entry, 32 << i, 1, 1e-3) for i in range(2)]
    few.append(launched(entry, 128, 1, 2e-3, "auto"))
    for one in few:
        one["samples"] = one["samples"][:5]
    found = launches.maps(rows_of(few))
    alone = ["launches: 1 automatic without an interval, not judged"]
    assert launches.texts(found) == alone
    many = [launched(entry, 32 << i, 1, 1e-3, n=8) for i in range(2)]
    many.append(launched(entry, 128, 1, 1e-3, "auto", n=8))
    (text,) = launches.texts(launches.maps(rows_of(many, file="more.json")))
    assert "1 of 1 automatic ones" in text
    assert text.endswith("(1 without an interval left out)")


def test_maps_of_several_devices_say_so(entry, rows_of):
    more = {"devices": 4, "metric": "makespan"}
    some = [launched(entry, 32 << i, 1, 1e-3, **more) for i in range(3)]
    (found,) = launches.maps(rows_of(some))
    assert found.device == "4 x NVIDIA H200"


def test_two_launches_are_no_map(entry, rows_of):
    pair = [launched(entry, 64, 1, 1e-3), launched(entry, 32, 1, 1e-3)]
    assert launches.maps(rows_of(pair)) == []


def test_second_axis():
    assert second_axis([{"league": 1, "vector": 1}, {"league": 2, "vector": 1}]) == (
        "league"
    )
    assert second_axis([{"tile": 1}, {"tile": 2}]) == "tile"
    assert second_axis([{"league": 1, "vector": 2}, {"league": 2, "vector": 4}]) == (
        "vector"
    )


def repeat(one, samples, **changes):
    again = {"name": one["name"] + "/null:1", "samples": samples, "null": True}
    return {**one, **again, **changes}


def test_null_tests_count_false_verdicts(entry, rows_of):
    kokkos, cuda = entry("kokkos", times(1e-3)), entry("cuda", times(1e-3))
    rows = rows_of(
        [kokkos, cuda, repeat(kokkos, times(1e-3)), repeat(cuda, times(2e-3))]
    )
    found = nulls.nulls(rows)
    assert [test.verdict for test in found.tests] == ["same", "slower"]
    assert [test.row.case.model for test in found.false] == ["cuda"]
    first, second = nulls.texts(found)
    assert "null tests, each a variant against itself: 2, false verdicts: 1" in first
    assert "model:cuda" in second and "slower 2.000" in second
    # they enter nothing else
    assert len(measured(rows)) == 2
    assert rows[0].ratio.value == pytest.approx(1)


def test_a_failed_null_test_is_shown(entry, rows_of):
    one = entry("cuda", times(1e-3))
    wrong = repeat(one, [], status="failed", reason="row 7")
    rows = rows_of([one, repeat(one, times(1e-3), name="other/null:1"), wrong])
    assert [row.verdict for row in of_study(rows)] == ["", "FAILED"]


def test_margin_is_the_readers(entry, rows_of):
    one = entry("cuda", times(1e-3))
    rows = rows_of([one, repeat(one, times(1.03e-3))])
    assert [test.verdict for test in nulls.nulls(rows, 0.02).tests] == ["slower"]
    assert [test.verdict for test in nulls.nulls(rows, 0.05).tests] == ["same"]


def test_nulls_without_a_pair_or_samples(entry, rows_of):
    one, two = entry("cuda", [1e-3] * 3), entry("kokkos", reason="no GPU")
    rows = rows_of(
        [one, two, repeat(one, [1e-3] * 3), repeat(two, [1e-3], status="passed")]
    )
    found = nulls.nulls(rows)
    assert [test.verdict for test in found.tests] == [""] and found.false == []
    assert "1, 0 with samples enough for a verdict" in nulls.texts(found)[0]
    assert nulls.texts(nulls.nulls([])) == []
