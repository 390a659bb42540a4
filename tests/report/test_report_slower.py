# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why Kokkos is slower: the facts of both kernels in one line."""

import pytest

from bench.report.__main__ import main
from bench.report.findings import analyse
from bench.report.lines import to_json
from bench.report.slower import counted, slower, texts, told
from tests.conftest import H200
from tests.made_lines import ADD, OF_KOKKOS, made_builds

TIMES = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1
OF_NVCC = "44_GLOBAL__N__d88e0655_7_cuda_cu_42df3556_9730"
IN_BUILD = ADD.replace("12_GLOBAL__N_1", OF_NVCC)


def kernel(name, registers=32, blocks=264, **changes):
    return {
        "name": name,
        "count": 1,
        "grid": [blocks, 1, 1],
        "block": [128, 2, 1],
        "registers": registers,
        "local_bytes": 0,
        "shared_bytes": 0,
        "resident_blocks": 4,
        **changes,
    }


@pytest.fixture
def entries(entry):
    def make(factor, of_kokkos, of_cuda, **changes):
        times = [factor * time for time in TIMES]
        kokkos = {"kernels": of_kokkos} if of_kokkos else {}
        cuda = {"kernels": of_cuda} if of_cuda else {}
        return [
            entry("kokkos", times, **kokkos, **changes),
            entry("cuda", TIMES, **cuda, **changes),
        ]

    return make


@pytest.fixture
def found(entries, rows_of):
    """The lines of pairs with these kernels."""

    def lines(factor, of_kokkos, of_cuda, builds=(), **changes):
        devices = [{**H200, "multiprocessors": "132"}]
        rows = rows_of(entries(factor, of_kokkos, of_cuda, **changes), devices=devices)
        return texts(slower(rows), dict(builds))

    return lines


def test_facts_stand_side_by_side(found):
    mine = kernel(OF_KOKKOS, 40, blocks=528, shared_bytes=8)
    (line,) = found(1.1, [mine], [kernel(ADD, 26)], made_builds())
    assert line == (
        "slower than cuda: vector_add f32 n=2^28, wide, NVIDIA H200, 1.100 [1.096, 1.104] at default launches: "
        "kokkos AddRows | cuda add: registers 40 | 26, spilled bytes 8 | 8, local bytes 0 | 0, shared bytes 8 | 0, "
        "threads 256 | 256, blocks 528 | 264, waves 1.00 | 0.50, kernels 1 | 1; "
        "instructions 309 | 200: integer 300 | 200, control 9 | 0"
    )


def test_of_several_kernels_that_with_the_most_instructions(found):
    small = kernel("_ZN6league4fillEv", blocks=9999)
    (line,) = found(1.1, [kernel(OF_KOKKOS)], [small, kernel(ADD, 26)], made_builds())
    assert "| cuda add: " in line and "kernels 1 | 2;" in line
    # without instructions by registers and threads
    (line,) = found(1.1, [kernel(OF_KOKKOS)], [small, kernel(ADD, 26)])
    assert "| cuda fill: " in line and "spilled" not in line


def test_what_is_missing_is_said(found):
    (line,) = found(1.1, [kernel(OF_KOKKOS)], [kernel(ADD)])
    assert "python3 -m bench.lines build/cuda-hopper90 --output lines.json" in line
    assert "--lines lines.json" in line and "instructions 309" not in line
    for sides in (([], []), ([kernel(OF_KOKKOS)], [])):
        (line,) = found(1.1, *sides, made_builds())
        assert line.startswith("1 pair where written once is more than 3 % slower")
        assert "`bench/run STUDY`" in line
    why = "a compute cannot be recorded into a graph: it waits"
    (line,) = found(1.1, [], [], kernels_note=why)
    assert line.endswith(f"] at default launches: {why}")


def test_pairs_that_are_none(found):
    both = [kernel(OF_KOKKOS)], [kernel(ADD)]
    assert found(1.02, *both) == []
    assert found(1.1, *both, kind="host") == []  # no kernels there
    assert found(1.1, *both, devices=2) == []
    assert found(1.1, *both, method="flat") == []
    assert found(1.1, *both, algorithm="ceilings") == []


def test_names_of_a_build_are_those_of_another(found):
    (line,) = found(1.1, [kernel(OF_KOKKOS)], [kernel(IN_BUILD)], made_builds())
    assert "cuda add: " in line and "instructions 309 | 200:" in line


def test_sides_that_lack_something():
    assert told({"a": 1}, {"b": 2}) == "a 1 | ?, b ? | 2"
    assert counted({"x": 1}, {"y": 2}) == "instructions 1 | 2: y 0 | 2, x 1 | 0"


def test_the_report_has_the_line(entries, save, tmp_path):
    folder = save(entries(1.1, [kernel(OF_KOKKOS)], [kernel(ADD)]))
    (file := tmp_path / "lines.json").write_text(to_json(made_builds().values()))
    assert main([str(folder), "--quiet", "--lines", str(file)]) == 0
    page = (folder / "report/index.html").read_text()
    for text in ((folder / "table.md").read_text().replace("\\|", "|"), page):
        assert "instructions 309 | 200: integer 300 | 200, control 9 | 0" in text


def test_records_agree_with_their_schema(rows_of, entries):
    rows = rows_of(entries(1.1, [kernel(OF_KOKKOS)], [kernel(ADD)]))
    assert [row.case.kernels[0].name for row in rows] == [OF_KOKKOS, ADD]
    assert analyse(rows, 0.02).slower
