# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The README's support table: drawn from fixtures, and the real one checked."""

import os
import subprocess
from pathlib import Path

import pytest

from bench.report import support
from bench.report.decode import decode
from bench.report.evidence import Listing, place, proofs, read_listing, states
from bench.report.fields import Broken
from bench.report.support import COLUMNS
from bench.report.support_check import contradictions, parse, unproven

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "support"
LISTS = [DATA / "openmp.json", DATA / "cuda.json"]
PAGE = f"# Title\n\n{support.BEGIN}\nold\n{support.END}\n\nrest\n"
SCRATCH = "a thread has no team | scratch"


def listings():
    return [read_listing(path) for path in LISTS]


@pytest.fixture
def proof(entry, save):
    """direct passed on a CPU (openmp, kokkos) and on an H200 (kokkos, cuda)."""
    what = {"algorithm": "distance_matrix", "method": "direct"}
    folder = save(
        [
            entry("openmp", [1.0], **what),
            entry("kokkos", [1.0], **what),
            entry("cuda", [1.0], **what),
            entry("serial", status="failed", reason="wrong", **what),
        ]
    )
    save(
        [entry("kokkos", [1.0], kind="host", **what)], file="host.json", preset="openmp"
    )
    return proofs([folder])


def test_cells(proof):
    table = parse(support.splice(PAGE, support.draw(listings(), proof)))
    assert table["distance_matrix", "direct"] == {
        "serial": "compiled",
        "openmp": "CPU",
        "kokkos": "CPU, H200",
        "kokkos_specialised": "",
        "cuda": "H200",
        "hip": "not built",
    }
    assert table["distance_matrix", "tiled"] == {
        "serial": "— [1]",
        "openmp": "missing",
        "kokkos": "compiled",
        "kokkos_specialised": "",
        "cuda": "compiled",
        "hip": "not built",
    }
    gram = table["distance_matrix", "gram"]
    assert [gram[model] for model in COLUMNS] == [""] * len(COLUMNS)
    assert gram["cublas"] == "compiled" and gram["kokkos_kernels"] == "missing"
    assert gram["torch"] == "— [2]" and "mkl" not in gram


def test_reasons_stand_below_the_table(proof):
    text = support.draw(listings(), proof)
    assert f"1. {SCRATCH}\n2. a library's product" in text
    assert all(
        line.count(" | ") == len(COLUMNS) + 2
        for line in text.splitlines()
        if line[:1] == "|"
    )


def test_names_of_devices(entry, rows_of):
    names = {
        "NVIDIA H200": "H200",
        "NVIDIA A100-SXM4-80GB": "A100",
        "AMD Instinct MI250X": "MI250X",
        "": "GPU",
    }
    for name, short in names.items():
        (row,) = rows_of([entry("cuda", [1.0], device_name=name)])
        assert place(row.case) == short


def test_code_that_is_written_once_is_told(proof):
    """In the cell, and where a build contradicts it."""
    ours = listings()
    for listing in ours:
        for (_, method), model in listing.models():
            if model.name == "kokkos":
                model.bodies = "numbers" if method == "direct" else "several"
    readme = support.splice(PAGE, support.draw(ours, proof))
    table = parse(readme)
    assert table["distance_matrix", "direct"]["kokkos"] == "CPU, H200 (numbers)"
    assert table["distance_matrix", "tiled"]["kokkos"] == "compiled"
    assert [contradictions(readme, listing) for listing in ours] == [[], []]
    assert unproven(readme, proof) == []
    found = contradictions(readme.replace("(numbers)", "(one body)"), ours[1])
    assert found == [
        "distance_matrix direct kokkos: numbers, table: 'CPU, H200 (one body)'"
    ]


def test_write_then_check(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(support, "PUBLISHED", tmp_path / "none")
    readme = tmp_path / "README.md"
    readme.write_text(PAGE, encoding="utf-8")
    lists = [str(path) for path in LISTS]
    assert support.main([*lists, "--check", str(readme)]) == 1
    assert "-old" in capsys.readouterr().out
    assert support.main([*lists, "--write", str(readme)]) == 0
    assert support.main([*lists, "--check", str(readme)]) == 0
    assert capsys.readouterr().out == ""
    text = readme.read_text(encoding="utf-8")
    assert text.startswith("# Title\n\n<!--") and text.endswith("-->\n\nrest\n")
    assert support.main([*lists[:1], "--check", str(readme)]) == 1


def test_bad_input(tmp_path, capsys):
    (tmp_path / "README.md").write_text("no markers")
    (tmp_path / "half.json").write_text('{"algorithms": [{"name": "knn"}]}')
    readme, half = str(tmp_path / "README.md"), str(tmp_path / "half.json")
    assert support.main([str(LISTS[0]), "--check", readme]) == 2
    assert "markers" in capsys.readouterr().err
    assert support.main([half]) == 2
    assert "half.json: 'algorithms[0].methods' is missing" in capsys.readouterr().err


def test_each_build_alone_agrees_with_the_table_of_all(proof):
    readme = support.splice(PAGE, support.draw(listings(), proof))
    assert [contradictions(readme, listing) for listing in listings()] == [[], []]
    assert unproven(readme, proof) == []


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("| H200 |", "| missing |", "direct cuda: no_device"),
        ("— [1]", "missing", "tiled serial: not_expressible"),
        ("| missing |", "| — [1] |", "tiled openmp: missing"),
        ("| distance_matrix | tiled |", "| distance_matrix | tild |", "tiled: no row"),
        (SCRATCH, "because", "tiled serial: reason not listed"),
        ("cublas: compiled", "", "gram cublas: no_device"),
        ("| distance_matrix | gram |", "| fft | gram |", "fft: no such algorithm"),
    ],
)
def test_contradictions_are_found(proof, old, new, message):
    readme = support.splice(PAGE, support.draw(listings(), proof))
    assert old in readme
    found = contradictions(readme.replace(old, new, 1), listings()[1])
    assert any(message in line for line in found), found


def test_unproven_claims_are_found(proof):
    readme = support.splice(PAGE, support.draw(listings(), proof))
    assert unproven(readme.replace("CPU, H200", "H200"), proof)
    assert unproven(readme, {})


def list_of_build(executable):
    """Its list, or a skip where it cannot start here (no driver library and no stub)."""
    stubs = sorted(ROOT.glob("build/**/libcuda.so.1"))
    paths = [os.environ.get("LD_LIBRARY_PATH", ""), *(str(p.parent) for p in stubs)]
    env = {**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, paths))}
    command = [str(executable), "list", "--json"]
    try:
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=120, check=False
        )
    except OSError as error:
        pytest.skip(f"{executable.parent.name}: {error}")
    if done.returncode == 127 or "loading shared libraries" in done.stderr:
        pytest.skip(f"{executable.parent.name}: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return decode(done.stdout.encode(), Listing)


# builds of presets, those of .ci/run and .ci/nightly with all algorithms among them
EXECUTABLES = sorted(
    path
    for pattern in ("*", "ci/quick/cuda-hopper90", "ci/cuda-hopper90", "ci/hip-gfx90a")
    for path in ROOT.glob(f"build/{pattern}/league")
)
ALGORITHMS = ROOT / "algorithms" / "README.md"


@pytest.fixture
def readme():
    """The page with the table."""
    return ALGORITHMS.read_text(encoding="utf-8")


@pytest.mark.parametrize("executable", EXECUTABLES, ids=lambda path: path.parent.name)
def test_readme_agrees_with_this_build(readme, executable):
    assert contradictions(readme, list_of_build(executable)) == []


def test_readme_claims_what_published_records_prove(readme):
    assert unproven(readme, proofs((ROOT / "bench" / "results").glob("*"))) == []


def test_readme_is_drawn_from_all_builds(readme):
    lists = [list_of_build(executable) for executable in EXECUTABLES]
    table = support.draw(lists, proofs((ROOT / "bench" / "results").glob("*")))
    if not states(lists) or "not built" in table:
        pytest.skip("needs a build of every backend")
    assert support.splice(readme, table) == readme


def test_markers_are_needed():
    with pytest.raises(Broken):
        parse("nothing")
