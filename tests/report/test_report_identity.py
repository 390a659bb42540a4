# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds and hosts are told apart: samples of two of them are never in one median."""

import gzip
import json

import pytest

from bench.report import __main__ as report
from bench.report import builds, hosts
from bench.report.merge import load
from bench.report.nulls import nulls
from bench.report.rows import build_rows
from bench.report.view import groups

CLEAN = {
    "compiler": "GNU 12.2.0",
    "cxx_flags": "-O3 -march=native",
    "cuda_flags": "-O3",
    "kokkos_flags": "",
    "source_hash": "5" * 64,
    "executable_hash": "e" * 16,
}
UNSURE = ("unknown", "", "abc1234-dirty")


@pytest.fixture(name="two")
def two_launches(entry, save):
    """two(first, second, model=...) -> the cases of two launches, each with changes of its context."""

    def make(first, second, model="openmp", **options):
        folders = [
            save([entry(model, times)], folder=f"{i}", launch_id=f"l{i}", **changes)
            for i, (times, changes) in enumerate(
                (([1.0] * 10, first), ([3.0] * 10, second))
            )
        ]
        cases, problems = load(folders, **options)
        assert not problems
        return cases

    return make


@pytest.mark.parametrize("context", [{}, CLEAN])
def test_launches_of_one_build_on_one_host_are_pooled(two, context):
    (case,) = two(context, context)
    assert len(case.launches) == 2
    assert builds.texts([case]) == [] and hosts.texts([case]) == []


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("compiler", "Clang 19", "compiler GNU 12.2.0 | Clang 19"),
        ("cxx_flags", "-O2 -march=native", "C++ flags -O3 | -O2"),
        ("cuda_flags", "-O3 -G", "CUDA flags without | -G"),
        ("kokkos_flags", "-g", "flags of Kokkos files none | -g"),
        ("source_hash", "6" * 64, "sources 555555555555 | 666666666666"),
        ("executable_hash", "f" * 16, "executable eeeeeeeeeeee | ffffffffffff"),
        ("executable_hash", "", "executable eeeeeeeeeeee | not recorded"),
        ("git", "f00", "git abc1234 | f00"),
    ],
)
def test_a_difference_makes_two_builds_and_is_named(two, key, value, said):
    cases = two(CLEAN, {**CLEAN, key: value})
    assert [len(case.launches) for case in cases] == [1, 1]
    (text,) = builds.texts(cases)
    assert text == f"2 builds, each with rows of its own; they differ in: {said}"
    titles = [group.title for group in groups(build_rows(cases, 0.02))]
    assert len(set(titles)) == 2
    assert [row.median for row in build_rows(cases, 0.02)] in ([1.0, 3.0], [3.0, 1.0])


@pytest.mark.parametrize("git", UNSURE)
def test_an_unsure_commit_equals_nothing(two, git):
    cases = two({"git": git}, {"git": git})
    assert len(cases) == 2 and all(len(case.launches) == 1 for case in cases)
    assert "run of unknown sources l0 | l1" in builds.texts(cases)[0]


@pytest.mark.parametrize("git", UNSURE)
def test_unless_the_executable_is_known_to_be_the_same(two, git):
    known = {**CLEAN, "git": git}
    assert len(two(known, known)) == 1
    assert len(two(known, {**known, "executable_hash": "f"})) == 2
    assert len(two(known, {**known, "executable_hash": ""})) == 2


def test_an_unsure_run_that_went_on_is_one_build(two, entry, save):
    (case,) = two(*[{"git": "unknown", "run_id": "r"}] * 2)
    assert len(case.launches) == 2
    folder = save([entry("cuda", [1.0] * 6), entry("kokkos", [1.0] * 6)], git="unknown")
    rows = build_rows(load([folder])[0], 0.02)
    assert [row.verdict for row in rows if row.ratio] == ["same"], "one launch"


def test_two_builds_have_no_ratio(entry, save):
    one = save([entry("cuda", [1.0] * 9)], folder="one", **CLEAN)
    other = {**CLEAN, "source_hash": "6"}
    two = save([entry("kokkos", [1.0] * 9)], folder="two", launch_id="2", **other)
    rows = build_rows(load([one, two])[0], 0.02)
    assert all(row.ratio is None for row in rows)
    assert "cuda is of another build" in " ".join(row.note for row in rows)


HOSTS = [
    ({"host": "n1"}, {"host": "n2"}, ["n1", "n2"]),
    ({"machine": "1a"}, {"machine": "2b"}, ["n1 1a", "n1 2b"]),
    ({"machine": "1a"}, {"host": "n2", "machine": "1a"}, ["n1", "n2"]),
]


@pytest.mark.parametrize(("first", "second", "called"), HOSTS)
@pytest.mark.parametrize("model", ["openmp", "cuda"])
@pytest.mark.parametrize("pool", [False, True])
def test_two_hosts_of_one_name_are_two_machines(
    two, first, second, called, model, pool
):
    if pool and model == "cuda":
        return  # the next test
    cases = two(first, second, model, pool=pool)
    name = "Intel Xeon" if model == "openmp" else "NVIDIA H200"
    assert [case.device_name for case in cases] == [f"{name}, host {h}" for h in called]
    assert [case.samples[0] for case in cases] == [1.0, 3.0]
    assert hosts.texts(cases) == [
        f"{name}: of 2 hosts ({', '.join(called)}), each with rows of its own"
    ]
    rows = build_rows(cases, 0.02)
    (group,) = groups(rows)
    assert {row["on"] for row in group.rows} == {case.device_name for case in cases}
    if model == "cuda":
        assert all(case.context.llc_bytes("gpu", case.device_name) for case in cases)


@pytest.mark.parametrize(("first", "second", "called"), HOSTS)
def test_pooled_gpus_say_how_far_their_hosts_are_apart(two, first, second, called):
    (case,) = two(first, second, "cuda", pool=True)
    assert len(case.launches) == 2 and case.device_name == "NVIDIA H200"
    (row,) = build_rows([case], 0.02)
    assert row.note == "2 hosts, medians 200 % apart"
    assert (row.low, row.high) == (1.0, 3.0), "the interval draws hosts too"
    (text,) = hosts.texts([case])
    assert f"1 rows hold samples of several hosts ({', '.join(called)})" in text


def test_a_portable_row_is_never_held_against_another_host(entry, save):
    both = [entry("openmp", [1.0] * 9), entry("kokkos", [2.0] * 9, kind="host")]
    other = [entry("openmp", [4.0] * 9), entry("kokkos", [4.0] * 9, kind="host")]
    null = entry("openmp", [1.0] * 9)
    null |= {"name": null["name"] + "/null:1", "null": True}
    one = save([*both, null], folder="one")
    two = save(other, folder="two", launch_id="2", host="n2")
    rows = build_rows(load([one, two])[0], 0.02)
    ratios = {row.case.host: row.ratio.value for row in rows if row.ratio}
    assert ratios == {"n1": 2.0, "n2": 1.0}
    (test,) = nulls(rows).tests
    assert test.row.case.host == test.null.case.host == "n1"


def test_what_got_no_device_and_what_spans_nodes_is_of_no_single_host(entry, save):
    skipped, wide = (
        entry("hip", device_name=""),
        entry("cuda", [1.0] * 9, ranks=2, nodes=2, n=2**20),
    )
    folders = [
        save([skipped, wide], folder=host, launch_id=host, host=host)
        for host in ("n1", "n2")
    ]
    cases, problems = load(folders)
    assert not problems and len(cases) == 2
    assert {len(case.contexts) for case in cases} == {2}


def test_the_report_says_both_above_its_table(entry, save, capsys):
    one = save([entry("openmp", [1.0] * 9)], folder="one", **CLEAN)
    other = {**CLEAN, "compiler": "GNU 13", "host": "n2"}
    two = save([entry("openmp", [1.0] * 9)], folder="two", launch_id="2", **other)
    assert report.main([str(one), str(two)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "they differ in: compiler GNU 12.2.0 | GNU 13" in said
    assert "Intel Xeon: of 2 hosts (n1, n2), each with rows of its own" in said
    assert "of 2 hosts" in (one / "table.md").read_text()
    head, *lines = (one / "table.csv").read_text().splitlines()
    assert "compiler,sources,executable,host" in head
    assert sorted(line.split(",GNU ")[1].split(",")[3] for line in lines) == [
        "n1",
        "n2",
    ]


def test_a_gpu_campaign_is_pooled_where_asked(entry, save):
    one = save([entry("cuda", [1.0] * 9)], folder="one")
    two = save([entry("cuda", [1.1] * 9)], folder="two", launch_id="2", host="n2")
    assert report.main([str(one), str(two), "--quiet", "--pool-hosts"]) == 0
    assert "2 hosts, medians 10 % apart" in (one / "table.md").read_text()


def test_compressed_records_say_the_same(entry, save):
    folder = save([entry("openmp", [1.0] * 9)], **CLEAN)
    (path,) = (folder / "records").glob("*.json")
    record = json.loads(path.read_text())
    record["context"]["league"]["launch_id"] = "2"
    with gzip.open(path.with_suffix(".json.gz"), "wt") as file:
        json.dump(record, file)
    (case,), problems = load([folder])
    assert not problems and len(case.launches) == 2
