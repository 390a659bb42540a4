# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code convergence by hand, and the file of lines with machine code."""

import json

import pytest

from bench.lines.show import costs, span, table
from bench.report.lines import (
    BadLines,
    apportioned,
    convergence,
    distance,
    from_ranges,
    read,
    to_json,
    to_ranges,
)
from tests.made_lines import KERNEL, SHARED, made_builds, used


@pytest.fixture
def builds():
    return made_builds()


def test_distances_by_hand():
    assert distance(used(1, 2, 3), used(2, 3, 4)) == 1 - 2 / 4
    assert distance(used(1), used(1)) == 0 and distance(used(1), used(2)) == 1
    assert distance(used(1), used(1, file=SHARED)) == 1
    assert distance(used(), used()) == 0


def test_convergence_is_the_mean_over_pairs():
    three = [used(1, 2), used(2, 3), used(1, 2, 3)]
    assert convergence(three) == pytest.approx((1 / 3 + 2 / 3 + 2 / 3) / 3)
    assert convergence([used(1, 2), used(1, 2)]) == 1
    # where it does not run, there is no pair
    assert convergence([used(1, 2), used(), used(1)]) == 0.5
    assert convergence([used(1), used()]) is None


def test_shared_lines_count_once_in_all():
    one, other = ("a", "m", "kokkos"), ("b", "m", "kokkos")
    shares = apportioned({one: used(1, 2, 3), other: used(3, 4)})
    assert shares == {one: 2.5, other: 1.5}


@pytest.mark.parametrize(
    ("numbers", "text"),
    [([], ""), ([4], "4"), ([3, 4, 5, 9], "3-5,9"), ([1, 3, 4], "1,3-4")],
)
def test_ranges(numbers, text):
    assert to_ranges(numbers) == text and from_ranges(text) == numbers


def test_the_file_holds_all(builds, tmp_path):
    file = tmp_path / "lines.json"
    file.write_text(to_json(builds.values()))
    assert read([file]) == builds
    data = json.loads(file.read_text())
    assert data["builds"][0]["units"][0]["lines"] == {KERNEL: "1-3"}


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 9}', '{"schema": 1}'])
def test_a_file_that_is_none(text, tmp_path):
    (file := tmp_path / "lines.json").write_text(text)
    with pytest.raises(BadLines, match=r"lines\.json: "):
        read([file])


def test_whose_lines(builds):
    host = builds["openmp"]
    assert host.used("vector_add", "plain", "kokkos") == used(1, 2, 3)
    assert host.used("vector_add", "fill", "kokkos") == used()
    assert host.used("vector_add", "any", "onednn") == used(8)  # it names no methods
    assert host.used("knn", "wide", "kokkos") == used()


def test_the_table_has_the_natives_together(builds):
    lines = [line.split(" | ")[1:] for line in table(builds).splitlines()]
    rows = {(line[0], line[1]): line[2:] for line in lines}
    assert rows["wide", "kokkos"] == ["3", "3", "4", "2.0", "0.50 |"]
    assert rows["wide", "native"] == ["2", "3", "4", "", "0.25 |"]
    assert rows["wide", "openmp"] == ["2", "1", "2", "1.5", "0.50 |"]
    assert rows["wide", "cuda"] == ["", "3", "3", "2.5", " |"]
    assert ("plain", "native") not in rows


def test_what_files_cost(builds):
    head, _, *lines = costs(builds).splitlines()
    assert head.endswith("| code bytes | kernels | registers | spilled bytes |")
    (cuda,) = [line for line in lines if "| cuda |" in line]
    assert cuda == "| vector_add | wide | cuda | cuda-hopper90 | 9.5 | 4096 | 2 | 26-30 | 8 |"  # fmt: skip
    assert sum(line.endswith("|  |  |  |") for line in lines) == 4  # of hosts
    assert span([]) == ""
