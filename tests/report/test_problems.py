# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tables call a problem: short, without defaults, exact, and never the name of another problem."""

import random

import pytest

from bench.report import problems
from bench.report.units import about, exact


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0"),
        (8192, "8,192"),
        (524288, "524,288"),
        (10**6, "1M"),
        (62_500_000, "62.5M"),
        (1_000_003, "1,000,003"),
        (2**20, "2^20"),
        (2**30, "2^30"),
        (3 * 2**20, "3,145,728"),
        (1_500_000_000, "1.5G"),
        (10**13, "10,000,000,000,000"),
        (0.5, "0.5"),
        (0.0, "0"),
        (1e-6, "1e-6"),
        ("file", "file"),
    ],
)
def test_numbers_as_people_write_them(value, text):
    assert exact(value) == text


def test_no_two_numbers_look_alike():
    draw = random.Random(1)
    near = [
        base + step
        for base in (10**6, 2**20, 10**9, 2**30, 10**12)
        for step in range(-9, 10)
    ]
    round_ones = [
        draw.randrange(1, 10**4) * 10**power for power in range(9) for _ in range(200)
    ]
    numbers = {*range(2000), *near, *round_ones, *(2**n for n in range(50))}
    assert len({exact(number) for number in numbers}) == len(numbers)


def test_rounded_numbers():
    assert [about(n) for n in (400, 999.6, 1.25e6, 262144, 2.5e9)] == [
        "400",
        "1k",
        "1.25M",
        "262k",
        "2.5G",
    ]


def named(one, *keys):
    """With these keys in its name, as the harness names what is not at its default."""
    found = {**one["parameters"], **one["sizes"]}
    parts = "/".join(f"{key}:{found[key]}" for key in keys)
    return {**one, "name": f"a/model:{one['model']}/{parts}/{len(str(one))}"}


def test_defaults_are_not_shown(entry, rows_of):
    usual = {"seed": 1, "steps": 10, "tolerance": 0.0}
    other = {**usual, "tolerance": 1e-6}
    rows = rows_of(
        [
            named(
                entry(
                    "cuda",
                    [1.0],
                    parameters=usual,
                    sizes={"rows": 50_000_000, "features": 8},
                ),
                "rows",
            ),
            named(
                entry(
                    "hip",
                    [1.0],
                    parameters=other,
                    sizes={"rows": 50_000_000, "features": 8},
                ),
                "rows",
                "tolerance",
            ),
        ]
    )
    assert [row.problem for row in rows] == ["rows=50M", "rows=50M tolerance=1e-6"]
    wide = "rows=50000000 features=8 tolerance="  # for machines: alike in all rows
    assert [row.sizes for row in rows] == [f"{wide}0.0", f"{wide}1e-06"]


def test_what_tells_two_problems_apart_is_shown_although_no_name_has_it(entry, rows_of):
    slow, fast = ({"seed": 1, "rate": rate} for rate in (0.1, 0.2))
    rows = rows_of(
        [
            named(entry("cuda", [1.0], parameters=slow), "n"),
            named(entry("hip", [1.0], parameters=fast), "n"),
        ]
    )
    assert [row.problem for row in rows] == ["n=2^28 rate=0.1", "n=2^28 rate=0.2"]


def test_a_problem_all_at_defaults_shows_its_sizes(entry, rows_of):
    (row,) = rows_of([named(entry("cuda", [1.0]))])
    assert row.problem == "n=2^28"


def test_two_problems_never_have_one_cell(entry, rows_of):
    """Values, names and missing keys at random: equal cells only for equal problems."""
    draw = random.Random(3)
    entries = []
    for number in range(300):
        sizes = {"n": draw.choice([2**20, 10**6, 1_048_577]), "d": draw.choice([1, 3])}
        parameters = {
            k: draw.choice([0, 1, 0.5, "x"])
            for k in ("a", "b", "c")
            if draw.random() < 0.8
        }
        shown = [k for k in (*sizes, *parameters) if draw.random() < 0.5]
        one = named(entry("cuda", [1.0], sizes=sizes, parameters=parameters), *shown)
        entries.append({**one, "name": f"{one['name']}/{number}"})
    rows = rows_of(entries)
    found = {}
    for row in rows:
        found.setdefault(row.problem, set()).add(str(problems.values(row.case)))
    assert len(rows) == 300 and len(found) > 30
    assert all(len(one) == 1 for one in found.values())
