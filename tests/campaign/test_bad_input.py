# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a campaign refuses: each with what, where and what to do."""

import pytest
from campaign_support import COMPARISONS


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--launches", "0"], "takes a number from 1 on"),
        (["--minutes", "-1"], "takes a positive number of minutes"),
        (["absent.toml"], "no study 'absent.toml', neither here nor in"),
        (["--executable", "absent"], "no executable 'absent', neither here nor in"),
        (["--times", "configs"], "--times configs: holds no records/*.json"),
        (
            ["--total", "0.1"],
            "one launch of every comparison takes 0.3 min, --total allows 0.1",
        ),
        (["--", "--records", "x"], "--records is not to be given to league"),
        (["--", "--benchmark_filter=x"], "--benchmark_filter is not to be given"),
        (["--", "--set", "nothing=1"], "no dry run of it: league: "),
        (["--", "--set", "models=hip"], "no case of it runs in this build"),
    ],
)
def test_a_plan_refuses(place, words, said):
    assert said in place.plan(*words, status=2).stderr
    assert not place.folder.exists()


def test_two_studies_of_one_name_are_refused(place, tmp_path):
    (tmp_path / "other").mkdir()
    other = tmp_path / "other/small.toml"
    other.write_text(place.study.read_text())
    assert "two studies are named small" in place.plan(other, status=2).stderr


def test_a_comparison_of_two_studies_is_refused_and_ceilings_are_not(place, tmp_path):
    other = tmp_path / "other.toml"
    text = place.study.read_text()
    other.write_text(text)
    said = place.plan(other, status=2).stderr
    assert f"{COMPARISONS[0]} is in small and in other" in said
    other.write_text(text.replace("100", "200").replace("sizes = 2000", "sizes = 1000"))
    place.plan(other)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--slice", "9"], "--slice 9: the plan has slices 1 to 2"),
        (["run", "--slice", "x"], "argument --slice: invalid"),
        (["status", "--", "--set", "samples=3"], "options behind -- belong to `plan`"),
        (["collect", "--output", "results"], "nothing is recorded yet"),
    ],
)
def test_other_commands_refuse(place, words, said):
    place.plan()
    assert said in place.call(*words, status=2).stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "holds no campaign.json: make one with"),
        ("", "is no plan"),
        ("[]", "is no plan"),
        ('{"slices": [{"launch": 1}], "comparisons": {}}', "is no plan"),
    ],
)
@pytest.mark.parametrize("mode", ["run", "status"])
def test_a_folder_without_a_plan_is_refused(place, mode, text, said):
    if text is not None:
        place.folder.mkdir()
        (place.folder / "campaign.json").write_text(text)
    assert said in place.call(mode, status=2).stderr


def test_a_part_without_its_list_is_refused(place):
    place.plan()
    place.call("run", "--slice", 1)
    (file,) = place.folder.glob("slices/001/small/*/part.json")
    file.write_text("{")
    said = place.call("run", "--slice", 1, status=2).stderr
    assert (
        f"{file.parent} holds no whole part.json" in said and "move the folder" in said
    )


def test_times_of_a_damaged_record_are_refused(place, tmp_path):
    (tmp_path / "earlier/records").mkdir(parents=True)
    (tmp_path / "earlier/records/x.json").write_text("{")
    said = place.plan("--times", tmp_path / "earlier", status=2).stderr
    assert f"--times {tmp_path}/earlier: x.json: not a whole JSON file" in said
