# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes that a study drew: bounds, ratios and shares, by hand."""

import math
from dataclasses import replace

import pytest

from bench.report import cells, shape_texts, shapes
from bench.report.figures import shapes as figure
from bench.report.findings import analyse
from bench.report.merge import load
from bench.report.page import Report, to_html
from bench.report.peaks import Ceilings, Traffic
from bench.report.table import to_markdown
from bench.report.winners import to_summary

US = 1e-6


def time(microseconds):
    return [microseconds * US] * 6


def ceilings(entry):
    """1 TB/s, also in the cache; 10 Tflop/s; 5 us to start a kernel."""
    more = {"algorithm": "ceilings", "kind": "gpu"}
    moving = {"method": "copy", "cost": {"bytes": 1e9, "operations": 0}}
    working = {"method": "multiply_add", "cost": {"bytes": 0, "operations": 1e12}}
    start = {"algorithm": "overheads", "method": "kernel", "sizes": {"teams": 1}}
    cached = {"bytes": 2e7, "operations": 0}
    return [
        entry("cuda", [5e-6] * 6, cost={"bytes": 0}, **start),
        entry("cuda", [25e-6] * 6, n=2, **more, **{**moving, "cost": cached}),
        entry("cuda", [1e-3] * 6, n=1, **more, **moving),
        entry("cuda", [0.1] * 6, n=1, **more, **working),
    ]


class Drawn:
    """Entries of one shape after the other, with the cost of each."""

    def __init__(self, entry):
        self.entry = entry
        self.records = [("ceilings", ceilings(entry))]

    def shape(self, n, *variants, bytes=1000.0, operations=0.0, **more):
        cost = {"cost": {"bytes": bytes, "operations": operations}}
        entries = [
            self.entry(model, times, n=n, drawn=True, **cost, **more, **changes)
            for model, times, changes in variants
        ]
        self.records.append((f"shape {n}", entries))


FAILED = {"status": "failed", "reason": "wrong before sampling"}
REFUSED = {"status": "skipped", "reason": "33 features: takes up to 32"}


@pytest.fixture
def rows(all_rows, entry):
    """Six shapes: bounds of 20 us by bytes, 30 us by operations, else 5 us."""
    drawn = Drawn(entry)
    drawn.shape(  # 28 us over 20 us; blocks 30 / 28 x native; 1.4 x the library
        1,
        ("kokkos", time(50), {}),
        ("kokkos_specialised", time(30), {}),
        ("cuda", time(28), {}),
        ("cub", time(20), {"method": "transform"}),
        ("pytorch", time(1), {"method": "add"}),  # a peer is no library
        bytes=2e7,
    )
    # 10 us over 5 us; 12 / 10 x native; as fast as the library
    drawn.shape(
        2, ("kokkos", time(12), {}), ("cuda", time(10), {}), ("cub", time(10), {})
    )
    drawn.shape(3, ("kokkos", time(240), {}), operations=3e8)  # 240 us over 30 us
    drawn.shape(4, ("kokkos", [], FAILED), ("cuda", [], FAILED))
    drawn.shape(5, ("kokkos", [], REFUSED), ("cuda", time(20), {}))  # 20 us over 5 us
    drawn.shape(6, ("kokkos", [], REFUSED), ("cuda", [], REFUSED))
    return all_rows(*drawn.records)


def test_ratios_to_the_bound_and_shares(rows):
    (study,) = shapes.studies(rows)
    assert study.device == "NVIDIA H200"
    by_title = {shape.title.split("=")[1]: shape for shape in study.shapes}
    bounds = {n: by_title[n].bound for n in "123456"}
    assert bounds == pytest.approx(
        {"1": 2e-5, "2": 5e-6, "3": 3e-5, "4": 5e-6, "5": 5e-6, "6": 5e-6}
    )
    ratios = {n: by_title[n].ratio for n in "123456"}
    assert ratios == pytest.approx(
        {"1": 1.4, "2": 2.0, "3": 8.0, "4": math.inf, "5": 4.0, "6": math.inf}
    )
    assert by_title["1"].best.case.model == "cuda"
    assert [(share.hits, share.of) for share in study.shares] == [
        (2, 6),  # 1 and 2
        (3, 6),  # and 5
        (1, 4),  # 1; not 2, 4, 5; no pair in 3 and 6
        (1, 2),  # 2; not 1
    ]
    pairs = {shape.title.split("=")[1]: pair for shape, pair in study.pairs}
    assert pairs["1"].ratio == pytest.approx(30 / 28)
    assert pairs["2"].ratio == pytest.approx(12 / 10)
    assert (pairs["4"].text, pairs["5"].text) == ("FAILED", "skipped")


def test_the_worst_come_first(rows):
    (study,) = shapes.studies(rows)
    assert [shape.title[-1] for shape in study.shapes] == [*"463521"]
    lines = shape_texts.cells(study.shapes)
    assert {lines[0][2], lines[1][2]} == {
        "FAILED: wrong before sampling",
        "skipped: 33 features: takes up to 32",
    }
    assert lines[0][5] == lines[1][5] == "miss"
    assert lines[2][2:] == ("wide / kokkos", "240.0 us", "30.00 us", "8.00")


def test_it_is_told_on_the_terminal_in_markdown_and_on_the_page(rows):
    found = analyse(rows, 0.02)
    text = " ".join(to_summary("head", [], found, rows, 400).split())
    for part in (
        "6 shapes, NVIDIA H200: best own variant within 2 x of the bound: 2 of 6 (33.3 %), goal 90 %",
        "best own variant within 6 x of the bound: 3 of 6 (50.0 %), goal 100 %",
        "at most 1.11 x native, same method: 1 of 4 (25.0 %), goal 95 %",
        "at most 1.1 x the best library: 1 of 2 (50.0 %), goal 95 %",
        "no own variant solved 2 (1 FAILED)",
        "farthest from the bound: vector_add f32 n=3 8.0 x, vector_add f32 n=5 4.0 x",
        "farthest behind a library: vector_add f32 n=1 1.40 x cub transform",
    ):
        assert part in text
    assert "n=2 2.0 x" not in text, "at the goal is within it"
    markdown = to_markdown("", [], [], [], shapes=found.shapes)
    assert "### 6 shapes, NVIDIA H200" in markdown
    assert "| 240.0 us | 30.00 us | 8.00 |" in markdown
    page = to_html(
        Report("", [], [], found, [r.case for r in rows], rows, 0.02, "", ("a",)), []
    )
    assert 'id="shapes-drawn"' in page and "2 of 6 (33.3 %)" in page
    values = [line.cells["time / bound"].value for line in cells.shapes(found.shapes)]
    assert values == pytest.approx([1e9, 1e9, 8, 4, 2, 1.4])


def test_the_figure_is_the_distribution_of_ratios(rows):
    found = analyse(rows, 0.02)
    (one,) = figure.figures(rows, found)
    assert "2 of 6 within 2 times, 3 within 6 times" in one.caption
    assert figure.steps_of([4.0, math.inf, 2.0, 8.0], 4) == (
        [2.0, 4.0, 8.0],
        [0.25, 0.5, 0.75],
    )
    pytest.importorskip("matplotlib")
    (panel,) = one.draw().axes
    (line,) = [a for a in panel.get_lines() if a.get_label() == "vector_add (6)"]
    assert list(line.get_xdata()) == pytest.approx([1.4, 2, 4, 8])
    assert list(line.get_ydata()) == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6])


def test_the_bound_counts_steps_at_the_measured_latency(rows_of, entry):
    steps = {"parameters": {"seed": 1, "steps": 10}, "drawn": True}
    rows = rows_of([entry("cuda", time(100), n=3, **steps)])
    memory, cache = Traffic(0, 1e9, 1e12, False), Traffic(0, 36, 1e12, True)
    known = Ceilings([memory], {"f32": 1e13})
    note = "no bandwidth measured at 36 B"
    assert shapes.bound_of(rows, known) == (pytest.approx(3e-13), note), "operations"
    known.start = 2 * US
    assert shapes.bound_of(rows, known) == (pytest.approx(20e-6), note)
    known.traffic = [memory, replace(cache, rate=1e6)]  # 36 bytes
    assert shapes.bound_of(rows, known) == (pytest.approx(36e-6), "")


def test_without_ceilings_there_is_no_bound_and_no_figure(rows_of, entry):
    rows = rows_of([entry("cuda", time(6), n=1, drawn=True)])
    (study,) = shapes.studies(rows)
    (shape,) = study.shapes
    assert shape.bound is None and shape.ratio == math.inf
    assert shape.reason == "no ceiling measured on this device"
    assert [(share.hits, share.of) for share in study.shares] == [(0, 1), (0, 1)]
    text = "\n".join(shape_texts.texts([study]))
    assert "1 without a bound count as misses: no ceiling measured" in text
    assert "inf" not in text
    assert not list(figure.figures(rows, analyse(rows, 0.02)))


def test_a_unit_without_a_ceiling_has_no_bound(all_rows, entry):
    drawn = Drawn(entry)
    drawn.shape(
        1, ("cuda", time(6), {}), operations=1e9, bytes=1.0, best_unit="u8 tensor"
    )
    ((shape,),) = [study.shapes for study in shapes.studies(all_rows(*drawn.records))]
    assert (shape.bound, shape.reason) == (None, "no u8 tensor ceiling")


def test_only_shapes_that_were_drawn_and_could_run_count(all_rows, entry):
    drawn = Drawn(entry)
    missing = {"status": "skipped", "reason": "no GPU", "device_name": ""}
    drawn.shape(1, ("kokkos", [], missing), ("cuda", time(6), {}))
    plain = ("plain", [entry("kokkos", time(9), n=2), entry("cuda", time(6), n=2)])
    (study,) = shapes.studies(all_rows(*drawn.records, plain))
    assert len(study.shapes) == 1
    assert study.pairs == [], "what was not built is no miss"
    assert shapes.studies(all_rows(plain)) == []


def test_each_method_is_a_pair(all_rows, entry):
    drawn = Drawn(entry)
    slow, fast = {"method": "plain"}, {"method": "wide"}
    drawn.shape(
        1,
        ("kokkos", time(20), slow),
        ("cuda", time(10), slow),
        ("kokkos", time(30), fast),
        ("kokkos_specialised", [], {**fast, **REFUSED}),
        ("cuda", time(9), fast),
        ("kokkos_specialised", time(8), {"method": "mma"}),
        ("cuda", [], {"method": "mma", **REFUSED}),
    )
    (study,) = shapes.studies(all_rows(*drawn.records))
    pairs = {pair.method: pair for _, pair in study.pairs}
    assert pairs.keys() == {"plain", "wide"}, "native code that refuses makes no pair"
    assert pairs["plain"].ratio == pytest.approx(2)
    assert pairs["wide"].ratio == math.inf, (
        "there is a variant of blocks, which refused"
    )
    assert study.shapes[0].best.case.model == "kokkos_specialised"


def test_a_host_is_held_against_openmp(all_rows, entry):
    host = {"kind": "host", "device_name": "Intel Xeon"}
    entries = [
        entry("kokkos", time(10), n=1, drawn=True, **host),
        entry("openmp", time(9), n=1, drawn=True),
        entry("kokkos", time(10), n=1, drawn=True, name="gpu"),
    ]
    found = {study.device: study for study in shapes.studies(all_rows(("a", entries)))}
    assert found.keys() == {"Intel Xeon", "NVIDIA H200"}
    ((_, pair),) = found["Intel Xeon"].pairs
    assert pair.ratio == pytest.approx(10 / 9)
    assert found["NVIDIA H200"].pairs == []


def test_drawn_is_a_truth_value(save, entry):
    cases, (problem,) = load([save([entry("cuda", time(6), drawn="yes")])])
    assert not cases and "'drawn' is 'yes': expected `bool`" in problem


def test_regrets_are_of_variants_with_both_launches_and_no_goal_counts_tuned_ones(
    all_rows, entry
):
    tuned = {"launch": "tuned", "launch_source": "tuned"}
    automatic = {"launch_source": "auto"}
    drawn = Drawn(entry)
    drawn.shape(
        1,
        ("cuda", time(12), automatic),
        ("cuda", time(8), tuned),
        ("kokkos", time(10), automatic),
        ("kokkos", time(10), tuned),
    )
    drawn.shape(2, ("cuda", time(7), automatic), ("kokkos", time(6), tuned))
    (study,) = shapes.studies(all_rows(*drawn.records))
    assert sorted(one.value for _, one in study.regrets) == pytest.approx([0.0, 0.5])
    ratios = sorted(shape.ratio for shape in study.shapes)
    assert ratios == pytest.approx([7 / 5, 10 / 5])
    assert [pair.ratio for _, pair in study.pairs] == pytest.approx([10 / 12])
    text = "\n".join(shape_texts.texts([study]))
    assert "mean regret 25 %, largest 50 %, 1 of 2 above 20 %" in text
    assert "farthest behind tuned: vector_add f32 n=1 wide / cuda 50 %" in text
    assert "mean regret 25 %" in to_markdown("", [], [], [], shapes=[study])


def test_without_tuned_launches_no_regret_is_told(rows):
    (study,) = shapes.studies(rows)
    assert study.goals == study.shares
    assert "regret" not in "\n".join(shape_texts.texts([study]))
