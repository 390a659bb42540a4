# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long comparisons take, and which slices they make, without a program."""

import pytest

from bench.campaign.campaign import Planned
from bench.campaign.errors import BadInput
from bench.campaign.plan import cut, slices
from bench.campaign.times import Recorded, planned, recorded


def case(name, status="runs", state="ready", model="cuda", seconds=0.1):
    """A case of a dry run."""
    return {
        "name": name,
        "algorithm": "sum",
        "model": model,
        "kind": "peer" if model == "pytorch" else "native",
        "status": status,
        "state": state,
        "seconds": seconds,
    }


def comparison(*cases):
    return {"comparison": "c", "cases": list(cases)}


@pytest.mark.parametrize(
    ("one", "seconds"),
    [
        (case("a"), 2),
        (case("a", model="pytorch"), 10),
        (case("a", seconds=7.5), 7.5),
        (case("a", status="FAILED", seconds=0), 2),
        (case("a", status="skipped", state="no_device", seconds=0), 2),
    ],
)
def test_cases_without_a_record_take_the_default(one, seconds):
    found = planned(comparison(one), None, 5)
    assert found == Planned(seconds, 5, recorded=False)


def test_what_cannot_run_here_takes_no_time():
    skipped = case("b", status="skipped", state="not_built", seconds=0)
    assert planned(comparison(skipped), None, 5) is None
    assert planned(comparison(case("a"), skipped), None, 5).seconds == 2


def test_cases_that_the_record_lacks_are_added():
    known = Recorded(30, frozenset({"a"}))
    found = planned(comparison(case("a"), case("new")), known, 5)
    assert found == Planned(32, 5, recorded=True)


def test_the_longest_of_several_records_counts(save, entry):
    folders = [save([entry(samples=[1])], folder=name) for name in "abc"]
    assert recorded(folders) == {}, "records from before they had a time"
    for folder, seconds in zip(folders, (3, 7, 5)):
        (file,) = folder.glob("records/*.json")
        text = file.read_text()
        file.write_text(f'{{"seconds": {seconds}, {text[1:]}')
    assert [one.seconds for one in recorded(folders).values()] == [7]


def test_a_slice_may_hold_several_studies_each_with_its_ceilings():
    roof = Planned(5, 1, False, ceilings=True)
    work = Planned(20, 1, False)
    studies = {"a": {"roof": roof, "x": work}, "b": {"roof": roof, "y": work}}
    (one,) = slices(studies, 1, 600)
    assert one.comparisons == {"a": ["roof", "x"], "b": ["roof", "y"]}
    assert one.seconds == 2 * (10 + 5 + 20)
    apart = slices(studies, 1, 40)
    assert [list(one.comparisons) for one in apart] == [["a"], ["b"]]


def test_a_study_of_ceilings_alone_is_measured():
    studies = {"a": {"roof": Planned(5, 2, False, ceilings=True)}}
    assert [one.comparisons for one in slices(studies, 2, 600)] == 2 * [{"a": ["roof"]}]


def test_what_takes_longest_loses_launches_and_no_case_is_left_out():
    studies = {"a": {"x": Planned(100, 5, False), "y": Planned(10, 5, False)}}
    found = cut(studies, 5, 600, 300)
    assert sum(one.seconds for one in found) <= 300
    assert (studies["a"]["x"].launches, studies["a"]["y"].launches) == (2, 5)
    with pytest.raises(BadInput, match="one launch of every comparison takes 2.0 min"):
        cut(studies, 5, 600, 60)
