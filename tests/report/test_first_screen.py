# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the README shows first."""

import pytest

from bench.report import first_screen, published, published_pages
from bench.report.fields import Broken
from bench.report.figures import screen
from bench.report.published_records import read, resident
from bench.report.writing import ONCE, SPECIAL

FIRST = published.ONE[0]


def times(middle):
    return [middle * (1 + 0.001 * i) for i in range(-5, 6)]


def test_first_screen(results):
    first = first_screen.made(results)
    text, picture = published.joined(first.parts), first.picture
    assert text.startswith("On one NVIDIA H200 and on one Intel Xeon")
    assert "a median of **1.10 and 1.00** times as long" in text
    assert "default launches; 1 algorithms (of 2 pairs" in text
    pairs = "of 2 pairs half lie between 1.10 and 1.10, the worst at 1.1; of 2 pairs"
    assert f"({pairs} half lie between 1.00 and 1.00, the worst at 1)" in text
    image = f"bench/results/figures/{picture.slug}.svg"
    assert f"![{picture.title}]({image})\n\n*{picture.caption}*" in text
    times = "|  | 1.100 ms | 1.000 ms | 1.000 ms | 1.10 | 1.00 |"
    cells = f"{times} language 1.1 (cuda wide) |"
    assert f"| [addition](algorithms/vector_add/README.md) {cells}" in text
    assert "Once / CUDA of vector_add 1.10." in text
    for name in (FIRST, published.ONE[1]):
        assert f"[{name}](bench/results/{name}/table.md)" in text
    assert published.draw(results, first, []).startswith(first.sentence)


def test_marks_of_the_picture(results):
    _, *others = screen.MARKS
    shown = [("addition", gap) for gap in first_screen.found(resident(results / FIRST))]
    flat, once, special, native = (screen.places(shown, mark) for mark in screen.MARKS)
    assert [mark.tier for mark in others] == [ONCE, SPECIAL, screen.NATIVE]
    assert flat == special == []
    assert once == [(pytest.approx(1.1), 0), (pytest.approx(1.1), 1)]
    assert native == [(1, 0), (1, 1)]


def test_a_factor_names_the_code_that_it_is_a_ratio_to(results, entry, save):
    """Another native method is twice as fast, and a library a little faster than that."""
    made = [
        entry("cuda", times(0.5e-3), method="fast"),
        entry("cub", times(0.49e-3), method="copy_if"),
    ]
    save(made, folder=FIRST, file="more.json")
    read.cache_clear()
    found = first_screen.found(resident(results / FIRST))
    gap = next(gap for gap in found if gap.row.case.dtype == "f32")
    assert first_screen.factor(gap) == "method 2 (cuda fast)"
    assert gap.best.case.model == "cub"


def test_first_screen_is_of_one_device_each(results, entry, save):
    other = [
        entry(model, times(1e-3), device_name="NVIDIA H100 80GB HBM3")
        for model in ("kokkos", "cuda")
    ]
    save(other, folder=FIRST, file="other.json")
    read.cache_clear()
    with pytest.raises(
        Broken, match="one device in h200, not NVIDIA H100 80GB HBM3, NVIDIA H200"
    ):
        first_screen.made(results)


def test_first_screen_names_what_is_missing(results, monkeypatch):
    monkeypatch.setattr(first_screen, "MORE", (("vector_add", ("f32 n=3",)),))
    with pytest.raises(Broken, match="0 problems of vector_add with f32 n=3, not one"):
        first_screen.made(results)


def test_pages_show_the_problems_that_take_longest(results, entry, save, monkeypatch):
    monkeypatch.setattr(published_pages, "ONCE", (FIRST,))
    for n in (1000, 2000, 4000):
        made = [
            entry(model, times(n * 1e-3), sizes={"n": n})
            for model in ("kokkos", "cuda")
        ]
        save(made, folder=FIRST, file=f"{n}.json")
    read.cache_clear()
    text = published_pages.draw_once("vector_add", results)
    assert "[records](../../bench/results/h200)" in text
    assert "| f32 n=4,000 | wide |" in text and "| 4.000 s" in text
    assert text.count("| wide |") == 3 and "n=2^28" not in text and "f64" not in text
    assert published_pages.draw_once("knn", results) == "\n"
