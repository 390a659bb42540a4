# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading and merging: launches of one study, and files that cannot be used."""

import gzip
import json

import pytest

from bench.report.merge import load
from bench.report.rows import build_rows


def test_launches_of_one_case_are_pooled(entry, save):
    one = save([entry("cuda", [1.0] * 10, latency_s=2.0)], folder="one", launch_id="1")
    two = save([entry("cuda", [3.0] * 4, latency_s=4.0)], folder="two", launch_id="2")
    cases, problems = load([one, two])
    assert not problems and len(cases) == 1
    assert list(map(len, cases[0].launches.values())) == [10, 4]
    assert len(cases[0].samples) == 14 and cases[0].latencies == [2.0, 4.0]
    assert build_rows(cases, 0.02)[0].median == 1.0


def test_the_same_folder_twice_counts_once(entry, save):
    folder = save([entry("cuda", [1.0] * 10)])
    cases, problems = load([folder, folder])
    assert not problems and len(cases[0].samples) == 10


def test_a_copy_of_a_launch_is_left_out(entry, save):
    one = save([entry("cuda", [1.0] * 10)], folder="one")
    copy = save([entry("cuda", [1.0] * 10)], folder="copy")
    cases, problems = load([one, copy])
    assert len(cases[0].samples) == 10
    assert len(problems) == 1 and "copy" in problems[0] and "already" in problems[0]


@pytest.mark.parametrize(
    "change", [{"git": "f00"}, {"kokkos_version": "5.0"}, {"preset": "openmp"}]
)
def test_builds_are_never_pooled(entry, save, change):
    one = save([entry("cuda", [1.0] * 10)], folder="one")
    two = save([entry("kokkos", [1.0] * 9)], folder="two", launch_id="2", **change)
    cases, problems = load([one, two])
    assert not problems and len(cases) == 2
    assert all(row.ratio is None for row in build_rows(cases, 0.02))


def test_native_from_another_launch_gives_no_verdict(entry, save):
    one = save([entry("cuda", [1.0] * 10)], folder="one")
    two = save([entry("kokkos", [1.0] * 10)], folder="two", launch_id="2")
    row = build_rows(load([one, two])[0], 0.02)[0]
    assert row.ratio.value == 1 and row.verdict == ""
    assert row.note == "native from another program launch"


def test_failed_in_one_launch_is_failed(entry, save):
    folders = [
        save([entry("cuda", [1.0] * 10)], folder="1", launch_id="1"),
        save([entry("cuda", status="failed", reason="NaN")], folder="2", launch_id="2"),
        save([entry("cuda", [1.0] * 10)], folder="3", launch_id="3"),
    ]
    (row,) = build_rows(load(folders)[0], 0.02)
    assert (row.verdict, row.reason, row.median) == ("FAILED", "NaN", None)


def test_skipped_in_one_launch_is_said(entry, save):
    folders = [
        save([entry("cuda", [1.0] * 10)], folder="1", launch_id="1"),
        save([entry("cuda", reason="needs 16 GB")], folder="2", launch_id="2"),
    ]
    (row,) = build_rows(load(folders)[0], 0.02)
    assert row.median == 1 and row.reason == "skipped in another launch: needs 16 GB"


def test_a_timeline_is_kept(entry, save):
    events = [
        {"device": 0, "stage": "copy", "begin_s": 0, "end_s": 2e-3},
        {"device": 1, "stage": "copy", "begin_s": -1e-6, "end_s": 2.5e-3},
    ]
    one = save([entry("cuda", [1.0] * 6)], folder="one", launch_id="1")
    traced = entry("cuda", [1.0] * 6, timeline=events)
    two = save([traced], folder="two", launch_id="2")
    (case,) = load([one, two])[0]
    first, second = case.timeline
    assert (first.device, first.stage, first.end_s) == (0, "copy", 2e-3)
    assert (second.device, second.begin_s) == (1, -1e-6)


def test_files_still_being_written_are_left_alone(entry, save):
    folder = save([entry("cuda", [1.0] * 6)])
    (folder / "records" / ".next.json").write_text("{")
    (folder / "records" / "next.json.part").write_text("{")
    assert load([folder])[1] == []


def test_aggregates_of_google_benchmark_are_not_cases(entry, save):
    folder = save([entry("cuda", [1.0] * 6)])
    path = folder / "records" / "record.json"
    record = json.loads(path.read_text())
    record["benchmarks"].append({"name": "x_median", "run_type": "aggregate"})
    path.write_text(json.dumps(record))
    cases, problems = load([folder])
    assert len(cases) == 1 and not problems


@pytest.mark.parametrize(
    "change, message",
    [
        ({"parameters": {"seed": 2}}, "has parameters {'seed': 2}"),
        ({"sizes": {"n": 7}}, "'n' is 7, but its name has"),
        ({"dtype": "f64"}, "'dtype' is 'f64', but its name has"),
        ({"metric": "host_time"}, "has metric 'host_time'"),
    ],
)
def test_launches_of_two_cases_are_not_pooled(entry, save, change, message):
    first = entry("cuda", [1.0] * 6)
    one = save([first], folder="one", launch_id="1")
    two = save([{**first, **change}], folder="two", launch_id="2")
    if "sizes" in change or "dtype" in change:  # the comparison is named alike
        path = two / "records" / "record.json"
        record = json.loads(path.read_text())
        same = json.loads((one / "records" / "record.json").read_text())
        path.write_text(json.dumps({**record, "comparison": same["comparison"]}))
    (case,), (problem,) = load([one, two])
    assert len(case.launches) == 1
    assert "/two/records/record.json: left out" in problem and message in problem


def test_a_candidate_of_a_search_is_no_launch_of_the_study(entry, save):
    folder = save([entry("cuda", [1.0] * 6)], folder="one", launch_id="1")
    search = entry("cuda", [5.0] * 2, tuning=True)
    save([search], folder="one", file="search.json", launch_id="2")
    cases, problems = load([folder])
    assert not problems and len(cases) == 2
    study = next(case for case in cases if not case.tuning)
    assert study.samples == [1.0] * 6


def test_cpus_that_differ_in_threads_are_two_devices(entry, save):
    folders = []
    for threads in ("2", "16"):
        cpu = {"kind": "host", "index": 0, "name": "Intel Xeon", "threads": threads}
        folders.append(
            save(
                [entry("openmp", [1.0] * 6)],
                folder=threads,
                launch_id=threads,
                devices=[{**cpu, "llc_bytes": 7}],
            )
        )
    cases, problems = load(folders)
    names = [case.device_name for case in cases]
    assert names == ["Intel Xeon, 2 threads", "Intel Xeon, 16 threads"]
    assert not problems
    assert [c.context.llc_bytes("host", c.device_name) for c in cases] == [7, 7]


def test_old_records_have_defaults(entry, save):
    auto, tried = entry("cuda", [1.0] * 6), entry("cuda", [1.0] * 6, "team=64")
    (first, second), _ = load([save([auto, tried])])
    assert (first.null, first.tuning, first.best_unit) == (False, False, "")
    assert (first.launch_source, second.launch_source) == ("auto", "explicit")


def test_compressed_records_are_read(entry, save):
    folder = save([entry("cuda", [1.0] * 6)])
    path = folder / "records" / "record.json"
    whole = gzip.compress(path.read_bytes())
    path.with_name("record.json.gz").write_bytes(whole)
    path.unlink()
    (folder / "records" / "run.json.gz").write_bytes(gzip.compress(b'{"schema": 2}'))
    (case,), problems = load([folder])
    assert case.samples == [1.0] * 6 and not problems
