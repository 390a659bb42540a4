# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What others have published: the file, and the lines of the report."""

import pytest

from bench.report.findings import analyse
from bench.report.literature import literature

TIMES = [1e-3 * (1 + 0.001 * i) for i in range(-5, 6)]  # median 1 ms


def test_each_figure_has_a_source():
    for one in literature():
        assert one.source.startswith("https://") and one.what and one.device
        assert 1e11 < one.rate < 1e13


@pytest.fixture
def lines(entry, rows_of):
    """Kokkos at 3.22 TB/s of twice as fast CUDA."""

    def found(**changes):
        half = [time / 2 for time in TIMES]
        entries = [entry("kokkos", TIMES, **changes), entry("cuda", half, **changes)]
        texts = analyse(rows_of(entries), 0.02).texts()
        return [text for text in texts if "best published" in text]

    return found


def test_of_both_bests(lines):
    (line,) = lines()
    add = next(one for one in literature() if one.algorithm == "vector_add")
    share = 12 * 2**28 / 1e-3 / add.rate
    assert line.startswith(
        "vector_add f32 n=2^28, NVIDIA H200, of the best published ("
    )
    assert add.source in line and "of the best in this table (wide / cuda)" in line
    assert f": written once {share:.3f}, 0.500; native {2 * share:.3f}, 1.000" in line


@pytest.mark.parametrize(
    "changes",
    [
        {"algorithm": "stencil"},
        {"device_name": "NVIDIA A100"},
        {"devices": 2},
        {"n": 2**20},  # in a cache
        {"parameters": {"memory": "unified"}},
    ],
)
def test_of_other_problems_nothing(lines, changes):
    assert lines(**changes) == []
