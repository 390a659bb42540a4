# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the records say: the counts and the lines of the tables, by hand."""

import pytest

from bench.report import answers
from bench.report.selection import measured

STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


@pytest.fixture
def said(entry, rows_of):
    """The answers to rows of (model, method, seconds, more)."""

    def answer(*rows):
        entries = [
            entry(model, [seconds * one for one in STEADY], method=method, **more)
            for model, method, seconds, more in rows
        ]
        return "\n".join(answers.draw(measured(rows_of(entries))))

    return answer


def lines(text, question):
    """The lines of the table below a question; the sentence comes first."""
    part = text.split(f"**{question}.** ")[1].split("**")[0].splitlines()
    return part[0], [line for line in part[1:] if line.startswith("| vector_add")]


def test_portable_and_native_are_compared_method_by_method(said):
    text = said(
        ("kokkos", "wide", 1.5e-3, {}),
        ("kokkos_specialised", "wide", 1.02e-3, {}),
        ("cuda", "wide", 1e-3, {}),
        ("kokkos", "plain", 2.2e-3, {}),
        ("cuda", "plain", 2e-3, {}),
        ("kokkos", "alone", 9e-3, {}),
        ("cub", "transform", 5e-3, {}),
    )
    sentence, table = lines(text, "Where portable equals native")
    longer = "takes at most 3 % longer than native code of the same method in"
    kokkos = f"Kokkos, written once, {longer} 0 of 2 methods and problems (median ratio 1.300)"
    blocks = f"Kokkos, specialised, {longer} 1 of 1 methods and problems (median ratio 1.020)"
    assert f"{kokkos}; {blocks}" in sentence
    assert len(table) == 2, "what is within 3 % is not shown"
    assert "| kokkos wide 1.500 ms | cuda wide 1.000 ms | 1.500 |" in table[0]
    assert "| kokkos plain 2.200 ms | cuda plain 2.000 ms | 1.100 |" in table[1]
    sentence, table = lines(text, "What specialised kernels add")
    assert "Of 1 methods that both have, 1 are over 3 % faster" in sentence
    assert "1.47 times; 0 are slower" in sentence
    assert (
        "| kokkos wide 1.500 ms | kokkos_specialised wide 1.020 ms | 1.471 |"
        in table[0]
    )


def test_libraries_are_ahead_where_they_are(said):
    text = said(
        ("kokkos", "wide", 3e-3, {}),
        ("cuda", "wide", 2e-3, {}),
        ("cub", "transform", 1e-3, {}),
        ("kokkos", "wide", 3e-3, {"dtype": "f64"}),
        ("pytorch", "eager", 9e-3, {"dtype": "f64", "kind": "gpu"}),
    )
    sentence, table = lines(text, "Where libraries and Python win")
    assert "fastest in 1 of 2 problems" in sentence
    assert sentence.endswith("1.75 times as long in the median. They are ahead in:")
    assert len(table) == 1
    assert "| cuda wide 2.000 ms | cub transform 1.000 ms | 2.000 |" in table[0]


def test_matrix_units_stand_beside_what_needs_none(said):
    text = said(
        ("cuda", "fused", 9e-3, {}),
        ("kokkos", "fused", 8e-3, {}),
        ("kokkos_specialised", "mma", 4e-3, {}),
        ("cuda", "mma", 3e-3, {}),
        ("cuda", "wgmma", 2e-3, {}),
        ("cublas", "mma", 1e-3, {}),
    )
    _, table = lines(text, "What matrix units bring, with and without `wgmma`")
    times = ("kokkos fused 8.000 ms", "kokkos_specialised mma 4.000 ms")
    native = ("cuda mma 3.000 ms", "cuda wgmma 2.000 ms")
    assert table[0].endswith(f"| {' | '.join((*times, *native))} |")


def test_tuning_counts_what_was_searched_for(entry, rows_of):
    entries = [
        entry("kokkos", [1.2e-3 * one for one in STEADY]),
        entry("kokkos", [1e-3 * one for one in STEADY], "team=64", source="tuned"),
        entry("cuda", [1e-3 * one for one in STEADY]),
    ]
    text = "\n".join(answers.draw(measured(rows_of(entries))))
    sentence, table = lines(text, "What tuning brings")
    assert "makes 1 variants 20 % faster in the geometric mean, 1 of them" in sentence
    assert "| kokkos wide 1.200 ms | kokkos wide 1.000 ms | 1.200 |" in table[0]


def test_nothing_is_said_of_what_was_not_measured(said):
    assert said(("serial", "wide", 1e-3, {"kind": "host"})) == ""
    assert answers.draw([]) == []
