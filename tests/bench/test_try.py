# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`league try`: templates, and planted kernels, compiled and run on the CPU as a user does."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEAGUE = ROOT / "build/openmp/league"
PLANTED = ROOT / "tests/bench/planted"
CONFIGS = sorted(path.stem for path in (ROOT / "configs/try").glob("*.toml"))
FEW = ["--set", "samples=6", "--set", "models=serial,openmp"]
#: Shapes with remainders, small enough for any kernel.
SMALL = {
    "vector_add": ["sizes=70001"],
    "sum": ["sizes=70001"],
    "distance_matrix": ["sizes.n=129", "sizes.dimension=5"],
    "knn": ["sizes.train=517", "sizes.test=65", "sizes.features=17", "k=7"],
    "linear_regression": ["sizes.points=1333", "sizes.features=12", "steps=5"],
    "polynomial_fit": ["sizes=901", "steps=20", "learning_rate=1e-6"],
    "logistic_regression": ["sizes.rows=701", "sizes.features=5", "steps=5", "l2=0.01"],
    "softmax_regression": [
        *("sizes.train=301", "sizes.test=3", "sizes.features=33", "steps=5"),
        *("l2=0.01", "learning_rate=0.01"),
    ],
    "stencil": ["sizes=37", "steps=5"],
}
pytestmark = pytest.mark.skipif(not LEAGUE.exists(), reason="no build/openmp/league")


@pytest.fixture(scope="module", autouse=True)
def is_built():
    """The tests of a build without all algorithms would say little."""
    done = subprocess.run([LEAGUE, "list", "--json"], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("league does not run here")


def league_try(*words, records, code=None):
    """The finished process, and the rows of its records by "model method"."""
    command = [LEAGUE, "try", *words, "--records", records, "--python", sys.executable]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False
    )
    if code is not None:
        assert done.returncode == code, done.stdout + done.stderr
    rows = {}
    for path in Path(records).glob("[0-9]*.json"):
        for row in json.loads(path.read_text(encoding="utf-8"))["benchmarks"]:
            rows[f"{row['model']} {row['method']}"] = row
    return done, rows


@pytest.mark.parametrize("algorithm", CONFIGS)
def test_default_extents_are_odd(algorithm):
    """A kernel that loses the remainder of a block or pack fails without any option."""
    study = tomllib.loads((ROOT / f"configs/try/{algorithm}.toml").read_text("utf-8"))
    extents = (
        study["sizes"].values()
        if isinstance(study["sizes"], dict)
        else [study["sizes"]]
    )
    assert all(extent % 2 for extent in extents)


def written(folder, algorithm, model, ending):
    """A file with a template."""
    words = [LEAGUE, "try", "--template", algorithm, "--model", model]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    path = folder / f"naive_{algorithm}{ending}"
    path.write_text(text, encoding="utf-8")
    return path


def test_there_is_a_study_for_each_description():
    described = sorted(p.parent.name for p in ROOT.glob("algorithms/*/template.toml"))
    assert described == CONFIGS == sorted(SMALL)


@pytest.mark.parametrize("algorithm", SMALL)
def test_templates_are_right(algorithm, tmp_path):
    kokkos = written(tmp_path, algorithm, "kokkos", ".cpp")
    python = written(tmp_path, algorithm, "python", ".py")
    assert "__global__" in written(tmp_path, algorithm, "cuda", ".cu").read_text(
        "utf-8"
    )
    few = [word for pair in SMALL[algorithm] for word in ("--set", pair)]
    done, rows = league_try(
        *(kokkos, python, "--as", algorithm, *FEW, *few),
        *("--set", "models=kokkos,openmp"),
        records=tmp_path / "records",
    )
    for row in (f"your_kokkos {kokkos.stem}", f"your_python {python.stem}"):
        assert rows[row]["status"] == "passed", rows[row]["reason"]
    assert all(row["status"] != "failed" for row in rows.values()), done.stdout
    assert f"> your_kokkos         {kokkos.stem}  " in done.stdout
    for code in ("flat", "written once", "native", "yours"):
        assert re.search(rf" {code} +[\d.]+ [mu]?s ", done.stdout), done.stdout
    assert re.search(r" \[[\d.e+-]+, [\d.e+-]+\]$", done.stdout, re.MULTILINE)
    lines = kokkos.read_text(encoding="utf-8").splitlines()
    assert len(lines) < 60
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize(
    ("prefix", "ending", "model"),
    [("kokkos_", ".cpp", "your_kokkos"), ("", ".py", "your_python")],
)
def test_each_fault_is_a_row_that_says_which(prefix, ending, model, tmp_path):
    names = [prefix + n for n in ("right", "unsynchronised", "endless", "illegal")]
    files = [PLANTED / f"{name}{ending}" for name in names]
    _, rows = league_try(
        *(*files, "--as", "sum", "--limit", "5", *FEW),
        *("--set", "sizes=4000003"),
        records=tmp_path / "records",
        code=1,
    )
    right, unsynchronised, endless, illegal = (rows[f"{model} {n}"] for n in names)
    assert right["status"] == "passed", right["reason"]
    assert len(right["samples"]) == 6
    for row in (unsynchronised, endless, illegal):
        assert row["status"] == "failed"
    assert "sum[0] is" in unsynchronised["reason"]
    if model == "your_kokkos":
        assert "a race" in unsynchronised["reason"]
    assert "an endless loop?" in endless["reason"]
    assert "illegal access" in illegal["reason"]
    own = ("your_kokkos", "your_python")
    others = [row for row in rows.values() if row["model"] not in own]
    assert any(row["status"] == "passed" for row in others)
    assert all(row["status"] != "failed" for row in others)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("kokkos_remainder.cpp", "your_kokkos kokkos_remainder"),
        ("remainder.py", "your_python remainder"),
    ],
)
def test_a_lost_remainder_is_found(name, model, tmp_path):
    _, rows = league_try(
        *(PLANTED / name, "--as", "vector_add", *FEW, "--set", "sizes=1000"),
        records=tmp_path / "records",
        code=1,
    )
    reason = rows[model]["reason"]
    assert "sum[768]" in reason
    if model.startswith("your_kokkos"):
        assert (
            "never written: 232 of 1000 values of `sum`, from [768] to [999]" in reason
        )


def test_any_folder_of_a_kernel_will_do(tmp_path):
    folder = tmp_path / """a "b" 'c' $d"""
    folder.mkdir()
    (folder / "right.cpp").write_text('#include "here.hpp"\n')
    shutil.copy(PLANTED / "kokkos_right.cpp", folder / "here.hpp")
    _, rows = league_try(
        *(folder / "right.cpp", "--as", "sum", *FEW, "--set", "sizes=1000"),
        records=tmp_path / "records",
        code=0,
    )
    assert rows["your_kokkos right"]["status"] == "passed"


def test_a_write_beside_an_array_is_found(tmp_path):
    files = [PLANTED / f"kokkos_{where}.cpp" for where in ("beyond", "before")]
    _, rows = league_try(
        *(*files, "--as", "sum", *FEW, "--set", "sizes=1000"),
        records=tmp_path / "records",
        code=1,
    )
    reasons = [rows[f"your_kokkos {file.stem}"]["reason"] for file in files]
    assert reasons == [
        "illegal access: it writes beyond the end of `sum`",
        "illegal access: it writes before the beginning of `sum`",
    ]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("kokkos_right", ""),
        ("kokkos_unsynchronised", "ThreadSanitizer: data race, kokkos_uns"),
        ("kokkos_beyond", "AddressSanitizer: heap-buffer-overflow, kokkos_be"),
    ],
)
def test_sanitizers(name, found, tmp_path):
    done, rows = league_try(
        *(PLANTED / f"{name}.cpp", "--as", "sum", "--sanitize", *FEW),
        *("--set", "sizes=10000"),
        records=tmp_path / "records",
    )
    row = rows[f"your_kokkos {name}"]
    assert row["reason"].startswith(found)
    assert (row["status"] == "failed") == bool(found), row["reason"]
    if not found:
        assert "ThreadSanitizer found nothing in " in done.stderr


def test_what_does_not_compile_gives_the_compilers_message(tmp_path):
    file = tmp_path / "broken.cpp"
    file.write_text("void sum(const float* x) { return 1 }\n", encoding="utf-8")
    done, rows = league_try(file, "--as", "sum", records=tmp_path / "records", code=2)
    assert "broken.cpp:1" in done.stderr
    assert "error:" in done.stderr
    assert not rows
    file.write_text("void sum(const float* x) {}\n", encoding="utf-8")
    done, _ = league_try(file, "--as", "sum", records=tmp_path / "records", code=2)
    assert "no such function" in done.stderr
    assert "void sum(const T* x, double* sum, std::int64_t n, " in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["mine.txt", "--as", "sum"], "a kernel is a .cu file"),
        (["mine.cpp"], "--as says which algorithm"),
        (["mine.cpp", "--as", "cnn"], "takes no kernels of your own: distance_matrix"),
        ([], "name a FILE"),
    ],
)
def test_bad_input(words, message, tmp_path):
    for name in ("mine.txt", "mine.cpp"):
        (tmp_path / name).write_text("", encoding="utf-8")
    files = [tmp_path / w if w.startswith("mine") else w for w in words]
    done, _ = league_try(*files, records=tmp_path / "records", code=2)
    assert message in done.stderr


def test_the_working_tree_stays_clean(tmp_path):
    git = ["git", "-C", str(ROOT), "status", "--porcelain"]
    before = subprocess.run(git, capture_output=True, text=True, check=False)
    file = PLANTED / "right.py"
    league_try(file, "--as", "sum", *FEW, records=tmp_path / "records", code=0)
    after = subprocess.run(git, capture_output=True, text=True, check=False)
    assert before.stdout == after.stdout
