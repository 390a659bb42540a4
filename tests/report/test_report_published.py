# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The result tables of the pages are what the command draws from the records."""

import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench.report import defects, first_screen, published, published_figures
from bench.report.fields import Broken
from bench.report.gap_texts import TIERS_TEXT
from bench.report.marked import splice
from bench.report.published_records import read, resident
from bench.report.sources import record_files

ROOT = Path(__file__).resolve().parents[2]
FIRST = published.ONE[0]
STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


def times(middle):
    return [middle * factor for factor in STEADY]


def test_readme_and_pages_hold_just_what_is_drawn(capsys):
    assert published.main(["--check", str(ROOT / "README.md")]) == 0
    assert capsys.readouterr().out == ""


READINGS = {  # what a GPU at work can tell
    "sm_clock_MHz": (100, 5000),
    "memory_clock_MHz": (400, 20_000),
    "temperature_C": (1, 150),
    "power_W": (1, 5000),
}


def test_published_readings_have_their_own_names():
    """What was not read is absent, not 0."""
    told = [
        reading
        for folder in published.RESULTS.glob("*")
        for source in record_files(folder)
        for row in source.read()["benchmarks"]
        for key in ("readings_before", "readings_after")
        for reading in row[key].items()
    ]
    assert {name for name, _ in told} >= {"sm_clock_MHz", "memory_clock_MHz"}
    for name, value in told:
        low, high = READINGS[name]
        assert low <= int(value) <= high, name


def marks(name, old=""):
    return f"# T\n<!-- {name}:begin -->\n{old}<!-- {name}:end -->\nrest\n"


def save_pages(root, old=""):
    """The README and the page of all results."""
    readme = root / "README.md"
    readme.write_text(marks("headline", old))
    for page in (root / published.PAGE, root / published.STUDIES):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(marks("published", old) + marks("answers", old))
    return readme


def test_tables(results):
    shown = published_figures.published(results)
    text = published.draw(results, first_screen.made(results), shown)
    links = text.count("[vector_add](../../algorithms/vector_add/README.md)")
    # in one type in each league table and each table of gaps, and the scaling
    assert links == 1 + 2 * len(published.ONE)
    assert text.count("\nThe gap:\n") == len(published.ONE)
    assert "4.000 ms openmp wide" in text and "1.000 [" in text and "same" in text
    assert "| f32 n=2^28 |" in text and "f64" not in text
    short = re.sub(r" \[[\d., ]+\]", "", text)  # without intervals
    tiers = "|  | 1.100 ms wide |  |  | 1.000 ms cuda wide | 1.000 ms cuda wide |"
    assert f"| f32 n=2^28 {tiers} 1.100 slower | 2.000 ms cub transform |" in short
    gap = "| 1.100 |  | 1.100 | 1 | 1 | 1 | wide / cuda |"
    assert f"| f32 n=2^28 {gap}  |  |  |  | tuning: one launch measured |" in short
    assert TIERS_TEXT in text
    mean = "default launches, same-method pairs: 1.100 (n = 1, worst 1.100: vector_add f32 n=2^28 wide)"
    assert f"- written once / native on NVIDIA H200, {mean}\n" in text
    assert "8.000 ms; on 2: 5.000 ms, 1.60x" in text
    assert "Kokkos 4.7.00" in text and "abc1234" in text
    image = "bench/results/figures/times-slower-nvidia-h200.svg"
    caption = f"\n\n*{shown[0].caption}*"
    assert f"![Times slower, NVIDIA H200](../../{image}){caption}" in text


def test_natives_that_are_slower_than_their_twin_are_listed(results, entry, save):
    """More than 3 %, against the faster of kokkos and kokkos_specialised: at default launches, else at the best."""
    made = [
        entry("kokkos", times(1.0e-3), method="direct"),
        entry("kokkos_specialised", times(0.9e-3), method="direct", kind="gpu"),
        entry("cuda", times(1.08e-3), method="direct"),
        entry("cuda", times(1.05e-3), "team=64", method="direct"),
        entry("kokkos", times(1.0e-3), method="late"),
        entry("kokkos", times(0.8e-3), "team=64", method="late"),
        entry("cuda", times(1.0e-3), method="late"),
        entry("cuda", times(0.88e-3), "team=64", method="late"),
        entry("kokkos", times(1.0e-3), method="plain"),
        entry("cuda", times(1.02e-3), method="plain"),
    ]
    save(made, folder=FIRST, file="more.json")
    read.cache_clear()
    lines = defects.cells(defects.defects(resident(results / FIRST)))
    where = ("NVIDIA H200", "vector_add f32 n=2^28")
    default = ("direct", "default", "cuda 1.080 ms", "kokkos_specialised 900.0 us")
    best = ("late", "best", "cuda 880.0 us", "kokkos 800.0 us")
    assert [line[:6] for line in lines] == [(*where, *default), (*where, *best)]
    assert lines[0][6].startswith("1.200 [") and lines[1][6].startswith("1.100 [")
    text = published.draw(
        results, first_screen.made(results), published_figures.published(results)
    )
    assert f"| {' | '.join(lines[0])} |" in text and defects.TEXT in text


def test_ranks_are_a_line_of_their_own(results, entry, save):
    ranks = entry(
        "kokkos",
        times(4e-3),
        devices=2,
        metric="makespan",
        communicator="nccl",
        ranks=2,
    )
    ranks["name"] += "/ranks:2"
    save([ranks], folder=published.SEVERAL, file="3.json")
    text = published.draw(
        results, first_screen.made(results), published_figures.published(results)
    )
    (line,) = [line for line in text.splitlines() if "1 device per rank" in line]
    assert "| nccl, 1 device per rank | strong | 8.000 ms; on 2: 4.000 ms" in line
    assert "8.000 ms; on 2: 5.000 ms, 1.60x" in text


def test_page_of_an_algorithm(results, tmp_path, capsys):
    """Every method and type, each model at its best launch; libraries below."""
    readme = save_pages(tmp_path)
    page = tmp_path / "algorithms/vector_add/README.md"
    plain = tmp_path / "algorithms/knn/README.md"
    for file, text in ((page, marks("published")), (plain, "no tables")):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    arguments = ["--results", str(results)]
    assert published.main([*arguments, "--check", str(readme)]) == 1
    assert published.main([*arguments, "--write", str(readme)]) == 0
    assert published.main([*arguments, "--check", str(readme)]) == 0
    text = page.read_text()
    kokkos, cuda = "1.100 ms, 2928 GB/s", "cuda 1.000 ms, 3221 GB/s"
    for dtype in ("f32", "f64"):
        line = f"| {dtype} n=2^28 | wide | {kokkos} | {cuda} | 1.100 ["
        assert line in text and f"- {dtype} n=2^28: cub `transform` 2.000 ms" in text
    assert "slower" in text and f"../../bench/results/{FIRST}" in text
    assert text.endswith("-->\nrest\n") and plain.read_text() == "no tables"
    page.write_text(text.replace("1.100 ms", "1.000 ms"))
    assert published.main([*arguments, "--check", str(readme)]) == 1
    assert "vector_add/README.md" in capsys.readouterr().out


def test_figures_are_checked_byte_for_byte(results, tmp_path):
    shown = published_figures.published(results)
    published_figures.write(results, shown)
    assert published_figures.stale(results, shown) == []
    file = results / "figures/times-slower-nvidia-h200.svg"
    file.write_text(file.read_text().replace("95 %", "99 %").replace("abc1234", "x"))
    (file.parent / "left-over.svg").write_text("<svg/>")
    assert published_figures.stale(results, shown) == ["left-over.svg", file.name]
    file.unlink()
    assert file.name in published_figures.stale(results, shown)
    published_figures.write(results, shown)
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_unknown_figure_is_named(results):
    with pytest.raises(Broken, match="no figure 'pie'; there are: .*times-slower"):
        list(published_figures.chosen(read(results / FIRST)[1], ["pie"], FIRST))


def test_a_figure_of_just_that_name_comes_before_one_that_begins_so(monkeypatch):
    found = [SimpleNamespace(slug=slug) for slug in ("a-bc", "a-b", "a-bd")]
    monkeypatch.setattr(published_figures, "all_figures", lambda *_: iter(found))
    monkeypatch.setattr(published_figures, "analyse", lambda *_: None)
    for start, slug in (("a-b", "a-b"), ("a-", "a-bc"), ("a-bd", "a-bd")):
        (figure,) = published_figures.chosen([], [start], FIRST)
        assert figure.slug == slug


def test_figures_of_a_study_are_of_its_records_alone(results):
    ((study, (figure,)),) = published_figures.of_studies(results).items()
    assert study == "sizes" and figure.slug.startswith("sizes-every-model-vector-add")
    assert {case.model for case in figure.cases} == {"kokkos", "cuda"}


def test_write_then_check(results, tmp_path, capsys):
    readme = save_pages(tmp_path, "old\n")
    arguments = ["--results", str(results)]
    assert published.main([*arguments, "--check", str(readme)]) == 1
    assert capsys.readouterr().out.count("-old") == 4
    assert published.main([*arguments, "--write", str(readme)]) == 0
    assert published.main([*arguments, "--check", str(readme)]) == 0
    pages = [tmp_path / name for name in (published.PAGE, published.STUDIES)]
    for page in (readme, *pages):
        text = page.read_text()
        assert text.startswith("# T\n") and text.endswith("-->\nrest\n")
    image = "bench/results/figures/sizes-every-model-vector-add-f32-n-268435456.svg"
    assert [image in page.read_text() for page in pages] == [False, True]
    assert "\n### sizes\n" in pages[1].read_text()


def test_bad_input(results, tmp_path, capsys):
    (tmp_path / "README.md").write_text("no markers")
    arguments = ["--results", str(results), "--check", str(tmp_path / "README.md")]
    assert published.main(arguments) == 2
    assert "headline:begin" in capsys.readouterr().err
    shutil.rmtree(results / published.SEVERAL)
    assert published.main(["--results", str(results)]) == 2
    assert f"{published.SEVERAL}: holds no records" in capsys.readouterr().err
    (results / FIRST / "records" / "half.json").write_text("{")
    assert published.main(["--results", str(results)]) == 2
    assert "half.json" in capsys.readouterr().err


def test_markers_are_needed():
    with pytest.raises(Broken):
        splice("nothing", "published", "x")
