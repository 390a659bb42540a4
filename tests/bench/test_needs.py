# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a study needs is built, and nothing else; what was built before stays."""

import pytest

from bench.needs import merged, needs, parts
from tests.bench.test_gpu_choice import ROOT, machine

__all__ = ["machine"]


def test_methods_that_are_named_are_their_folders():
    assert parts("sum", ["flat", "two_stage"]) == {"sum/flat", "sum/two_stage"}
    assert parts("sum", ["shuffle"]) == {"sum/ladder"}, "several methods in one folder"
    assert parts("sum", ["flat", "library"]) == {"sum/flat"}, "peers are not built"
    assert parts("sum", ["library"]) == {"sum"}


@pytest.mark.parametrize("methods", [[], ["all"], ["-flat"]])
def test_methods_that_are_not_named_are_all(methods):
    assert parts("sum", methods) == {"sum"}


def test_an_algorithm_takes_in_its_methods():
    assert merged({"sum/flat", "knn"}, {"sum/two_stage"}) == [
        *("knn", "sum/flat", "sum/two_stage")
    ]
    assert merged({"sum/flat", "knn"}, {"sum"}) == ["knn", "sum"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], {"knn", "sum/flat"}),
        (["--set", "methods=two_stage"], {"knn", "sum/two_stage"}),
        (["--set=sum.methods=[flat, two_stage]"], {"knn", "sum/flat", "sum/two_stage"}),
        (["--set", "algorithm=stencil"], {"stencil", "stencil/flat"}),
        (["--set", "samples=3", "--devices", "2"], {"knn", "sum/flat"}),
    ],
)
def test_cases_take_defaults_and_what_is_set(tmp_path, options, expected):
    study = tmp_path / "study.toml"
    study.write_text(
        'samples = 3\n[[cases]]\nalgorithm = ["knn"]\n'
        '[[cases]]\nalgorithm = "sum"\nmethods = "flat"\n'
    )
    assert needs(study, options) == expected


def test_every_study_of_the_project_names_what_there_is():
    for study in ROOT.glob("configs/**/*.toml"):
        if "tuned" not in study.parts:
            assert needs(study, []), study


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('algorithm = "stencl"\n', "did you mean 'stencil'?"),
        ("algorithm = \n", "line 1"),
    ],
)
def test_a_bad_study_is_told_before_anything_is_built(machine, text, reason):
    (machine.root / "algorithms/stencil").mkdir()
    machine.study("bad", text)
    done = machine.run("configs/bad.toml")
    assert done.returncode == 2 and reason in done.stderr and "bad.toml" in done.stderr
    assert not (machine.root / "calls").exists()


def test_a_build_grows_by_what_is_named(machine):
    machine.study("more", 'algorithm = ["sum", "knn"]\nmethods = "two_stage"\n')
    machine.study("whole", 'algorithm = "sum"\n')
    for study in ("first", "first", "more", "first", "whole", "more"):
        assert machine.run(f"configs/{study}.toml").returncode == 0
    assert machine.parts() == ["sum/flat", "knn;sum/flat;sum/two_stage", "knn;sum"]


def test_an_own_kernel_needs_the_peaks_too(machine):
    (machine.root / "configs/try").mkdir(parents=True)
    machine.study("try/sum", 'algorithm = "sum"\n')
    for _ in range(2):
        assert machine.run("--try", "mine.cpp", "--as", "sum").returncode == 0
    assert machine.parts() == ["ceilings;sum"], "configured once"


def test_a_build_of_everything_stays_one(machine):
    machine.run()
    cache = machine.root / "build/openmp/CMakeCache.txt"
    cache.write_text("LEAGUE_ALGORITHMS:STRING=\n")
    machine.study("whole", 'algorithm = "knn"\n')
    machine.run("configs/whole.toml")
    assert machine.parts() == ["sum/flat"]
