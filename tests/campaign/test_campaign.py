# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A campaign as a user runs it: planned, killed, gone on with, collected."""

import json
import os
import shutil
import signal
import time

import pytest
from campaign_support import COMPARISONS, LEAGUE, STUDY, call, command

from bench.report import pack
from bench.report.sources import record_files


def names(files):
    """The comparisons of records."""
    return sorted(json.loads(text)["comparison"] for text in files.values())


def report(*words, status=0):
    """The report, or a comparison of two."""
    return call(command(*words, module="bench.report"), status)


def test_a_slice_is_of_whole_comparisons_and_the_ceilings(place):
    done = place.plan("--minutes", "0.28")  # 10 s to start, 2 s a case
    kept = place.content()
    (ceilings,) = (n for n in kept["comparisons"]["small"] if "ceilings" in n)
    found = [(one["launch"], one["comparisons"]["small"]) for one in kept["slices"]]
    halves = [[ceilings, *COMPARISONS[:2]], [ceilings, *COMPARISONS[2:]]]
    assert found == [(launch, half) for launch in (1, 2) for half in halves]
    assert all(one["seconds"] <= 0.28 * 60 for one in kept["slices"])
    assert "    1       1            3          0.3  small" in done.stdout
    assert (
        "4 slices, 1.1 GPU minutes; of 5 comparisons the times of 0 are measured"
        in (done.stdout)
    )


def test_measured_times_make_the_next_plan(place, tmp_path):
    place.plan()
    place.call("run")
    place.call("collect", "--output", tmp_path / "results")
    shutil.rmtree(place.folder)
    assert pack.main(["--unpack", str(tmp_path / "results")]) == 0
    for file in (tmp_path / "results/records").glob("*n:1001,*"):
        file.write_text(json.dumps({**json.loads(file.read_text()), "seconds": 300}))
    assert pack.main([str(tmp_path / "results")]) == 0
    done = place.plan("--times", tmp_path / "results", "--minutes", "4")
    known = place.content()["comparisons"]["small"]
    assert known[COMPARISONS[0]]["seconds"] == 300
    assert all(one["recorded"] for one in known.values())
    assert "(over the limit)" in done.stdout
    assert "of 5 comparisons the times of 5 are measured" in done.stdout
    place.plan("--times", tmp_path / "results", "--total", "7")
    known = place.content()["comparisons"]["small"]
    assert [known[name]["launches"] for name in COMPARISONS] == [1, 2, 2, 2]


def test_what_is_recorded_is_left_as_it_is_after_a_kill(place, tmp_path):
    place.study.write_text(
        place.study.read_text().replace("1004]", "1004, 8000001, 8000002]")
    )
    place.plan("--launches", 1, "--", "--set", "vector_add.samples=200")
    with place.begin() as process:
        while process.poll() is None and len(place.records()) < 3:
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
    before = place.records()
    assert 3 <= len(before) < 7, "killed in the middle"
    said = place.call("status", status=1).stdout
    assert f"slice 1: {len(before)} of 7 comparisons, missing: " in said
    assert "n:8000002" in said and "0 of 1 slices are done" in said
    place.call("collect", "--output", tmp_path / "results", status=2)
    place.call("run", "--slice", 1)
    after = place.records()
    assert len(after) == 7 and before.items() <= after.items()
    assert "slice 1: done, 7 comparisons" in place.call("status").stdout
    place.call("run", "--slice", 1)
    assert place.records() == after, "nothing is measured again"


def test_a_signal_is_passed_on_and_nothing_is_lost(place):
    place.study.write_text(place.study.read_text().replace("1001,", "16000001,"))
    place.plan("--", "--set", "vector_add.samples=2000")
    with place.begin() as process:
        try:
            while process.poll() is None and not place.records():
                time.sleep(0.005)
            process.terminate()
            assert process.wait(60) == 130
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert len(place.records()) == 1


def test_another_host_measures_what_is_missing_and_the_ceilings(place, tmp_path):
    place.plan("--launches", 1)
    place.call("run")
    (part,) = place.folder.glob("slices/001/small/*")
    part.rename(part.with_name("elsewhere"))
    for file, text in place.records().items():
        if json.loads(text)["comparison"] in COMPARISONS[1:3]:
            file.unlink()
    assert len(place.records()) == 3
    place.call("run")
    files = place.records()
    (ceilings,) = {n for n in names(files) if "ceilings" in n}
    assert names(files) == sorted([ceilings, ceilings, *COMPARISONS])
    assert len([file for file in files if file.is_relative_to(part)]) == 3
    place.call("collect", "--output", tmp_path / "results")
    assert len(record_files(tmp_path / "results")) == 6


def test_slices_become_one_folder_that_the_report_reads(place, tmp_path):
    place.plan("--minutes", "0.28")
    for number in (4, 2, 1, 3):
        place.call("run", "--slice", number)
    output = tmp_path / "results"
    said = place.call("collect", "--output", output).stderr
    assert f"12 records in {output}/records.jsonl.xz" in said
    files = [source.name for source in record_files(output)]
    assert files[0].startswith("001.0-small-000-ceilings") and len(files) == 12
    rows = json.loads(report(output, "--json").stdout)
    assert {row["launches"] for row in rows if row["algorithm"] == "vector_add"} == {
        "2"
    }
    assert (
        "holds records already"
        in place.call("collect", "--output", output, status=2).stderr
    )


def test_the_guard_finds_what_became_slower(place, tmp_path):
    place.plan("--launches", 1)
    place.call("run")
    for name, slow_s in (("old", 1e-3), ("same", 1e-3), ("slow", 1.05e-3)):
        for file, text in place.records().items():
            record = json.loads(text)
            sample_s = slow_s if record["comparison"] == COMPARISONS[2] else 1e-3
            row = record["benchmarks"][0]
            row |= {"samples": [sample_s] * 6, "real_time": sample_s * 1e9}
            file.write_text(json.dumps(record))
        place.call("collect", "--output", tmp_path / name)
    for name, status in (("same", 0), ("slow", 1)):
        words = ["compare", tmp_path / "old", tmp_path / name, "--fail-on-regression"]
        done = report(*words, status=status)
        named = [one for one in done.stdout.splitlines() if "regression" in one][:-1]
        assert len(named) == status
    assert "n:1003/" in named[0]


def test_rows_of_fewer_launches_are_named(place, tmp_path):
    place.plan()
    place.call("run", "--slice", 1)
    words = ["--output", tmp_path / "results"]
    said = place.call("collect", *words, status=2).stderr
    row = "vector_add/method:plain/model:serial/dtype:f32/n:1003/devices:1/launch:auto"
    assert f"1 of 2 launches: {row}" in said and "0 of 2" not in said
    assert not (tmp_path / "results").exists()
    next(
        file for file, text in place.records().items() if "n:1002/" in text.decode()
    ).unlink()
    said = place.call("collect", *words, "--launches", 1, status=2).stderr
    assert said.splitlines()[1:] == [
        f"  0 of 1 launches: all of {COMPARISONS[1]} (small)"
    ]
    place.call("run", "--slice", 1)
    place.call("collect", *words, "--launches", 1)


def test_a_repetition_without_memory_in_one_launch_is_no_row_that_lacks_one(
    place, tmp_path
):
    place.study.write_text(STUDY.replace("null = false", "null = true"))
    place.plan()
    place.call("run")
    first = next(file for file, text in place.records().items() if b"/null:1" in text)
    record = json.loads(first.read_text())
    for row in record["benchmarks"]:
        if row.get("null"):
            del row["samples"]
            row.update(status="skipped", reason="no memory for it")
    first.write_text(json.dumps(record))
    place.call("collect", "--output", tmp_path / "results")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda league: league.update(git="another"), "records of 2 builds"),
        (
            lambda league: league["devices"][0].update(name="Another CPU"),
            "records of 2 kinds of devices",
        ),
    ],
)
def test_records_of_two_machines_or_builds_are_no_table(place, tmp_path, change, words):
    place.plan()
    place.call("run")
    for file, text in place.records().items():
        if "slices/002" in str(file):
            record = json.loads(text)
            change(record["context"]["league"])
            file.write_text(json.dumps(record))
    said = place.call("collect", "--output", tmp_path / "results", status=2).stderr
    assert words in said and "slices/001" in said and "slices/002" in said
    assert not (tmp_path / "results").exists()


def test_two_executables_of_one_commit_are_two_builds(place, tmp_path):
    place.plan()
    place.call("run")
    (file,) = place.folder.glob("slices/002/small/*/records/run.json")
    file.write_text(json.dumps({**json.loads(file.read_text()), "executable": "f00"}))
    said = place.call("collect", "--output", tmp_path / "results", status=2).stderr
    assert "records of 2 builds" in said and "executable f00" in said


def test_a_failed_row_is_kept_and_named(place, tmp_path):
    place.plan("--launches", 1)
    place.call("run")
    file, text = next(iter(place.records().items()))
    record = json.loads(text)
    record["benchmarks"][0].update(status="failed", reason="planted")
    file.write_text(json.dumps(record))
    name = record["benchmarks"][0]["name"]
    assert f"FAILED: {name}" in place.call("status", status=1).stdout
    said = place.call("collect", "--output", tmp_path / "results", status=1).stderr
    assert f"1 FAILED rows among them: '{name}'" in said


def test_a_damaged_record_is_named_and_not_collected(place, tmp_path):
    place.plan("--launches", 1)
    place.call("run")
    file = next(iter(place.records()))
    file.write_text(file.read_text()[:100])
    said = place.call("status", status=1).stdout
    assert f"{file}: left out: not a whole JSON file" in said
    said = place.call("collect", "--output", tmp_path / "results", status=2).stderr
    assert str(file) in said and not (tmp_path / "results").exists()


def test_another_executable_is_refused(place, tmp_path):
    place.plan()
    other = tmp_path / "league"
    shutil.copy(LEAGUE, other)
    place.call("run", "--executable", other, "--slice", 1)
    with other.open("ab") as file:
        file.write(b"\0")
    said = place.call("run", "--executable", other, status=2).stderr
    assert f"{other} is not the executable that the plan was made with" in said


def test_a_plan_with_records_is_not_replaced(place):
    place.plan()
    place.plan("--launches", 1)
    place.call("run")
    before = place.content()
    assert "holds records of a plan" in place.plan(status=2).stderr
    assert place.content() == before
