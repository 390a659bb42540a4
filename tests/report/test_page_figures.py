# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each figure: drawn where the data are, from published records and from rows by hand; none without."""

import random
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from bench.report.figures import (
    accuracy,
    all_figures,
    bars,
    cascade,
    collectives,
    crossovers,
    launches,
    learning,
    memory,
    overview,
    roofline,
    scaling,
    stage_sweeps,
    stages,
    sweeps,
    timelines,
)
from bench.report.figures.output import render
from bench.report.findings import analyse
from bench.report.merge import load
from bench.report.peaks import Ceilings
from bench.report.rows import build_rows

RESULTS = Path(__file__).resolve().parents[2] / "bench" / "results"
SVG = "{http://www.w3.org/2000/svg}"


@cache
def published(name):
    rows = build_rows(load([RESULTS / name])[0], 0.02)
    return rows, analyse(rows, 0.02)


def samples(middle, count=8):
    """Times within 1 % of the middle; the same at each call."""
    draw = random.Random(middle)
    return [middle * draw.uniform(0.99, 1.01) for _ in range(count)]


def drawn(figure, folder):
    """The texts of a figure, after both files were written."""
    text = render(figure, figure.slug, folder)
    whole = ET.parse(folder / f"{figure.slug}.svg")
    png = (folder / f"{figure.slug}.png").read_bytes()
    assert png.startswith(b"\x89PNG") and len(png) > 3000
    assert text.startswith("<svg") and figure.title and figure.caption.endswith(".")
    assert figure.cases
    return " ".join("".join(node.itertext()) for node in whole.iter(f"{SVG}text"))


@pytest.mark.parametrize(
    ("module", "run", "algorithm", "words"),
    [
        (overview, "h200", "", ("best of all (log)", "same method (log)", "knn f32,")),
        (roofline, "h200", "knn", (" GB/s", "f32: 65.6 TFLOP/s", "fused u8")),
        (
            bars,
            "h200",
            "softmax_regression",
            ("fused / kokkos", "tf32x3_graph / triton", "library"),
        ),
        (stages, "h200", "knn", ("upload", "distance", "time (ms)")),
        (memory, "h200", "vector_add", ("unified", "unified, kernels, kokkos")),
        (scaling, "h200-scaling", "linear_regression", ("ideal", "nccl", "efficiency")),
        (timelines, "h200-x4", "sum", ("GPU 3", "copy in", "two_phase_sync")),
    ],
)
def test_published_records_draw(module, run, algorithm, words, tmp_path):
    found = [f for f in module.figures(*published(run)) if f.algorithm == algorithm]
    assert found
    text = drawn(found[0], tmp_path)
    for word in (*words, "NVIDIA H200", "samples x", "commit", "Kokkos 4.7.00"):
        assert word in text


@pytest.mark.parametrize(
    "module",
    [
        *(
            accuracy,
            bars,
            cascade,
            collectives,
            crossovers,
            launches,
            learning,
            memory,
            overview,
            roofline,
        ),
        *(scaling, stage_sweeps, stages, sweeps, timelines),
    ],
)
def test_no_data_no_figure(module):
    assert list(module.figures([], analyse([], 0.02))) == []


def test_skipped_and_failed_rows_draw_nothing(rows_of, entry):
    rows = rows_of([entry("hip"), entry("cuda", status="failed", samples=[])])
    assert list(all_figures(rows, analyse(rows, 0.02))) == []


def test_launch_map_marks_best_and_automatic(rows_of, entry, tmp_path):
    entries = [entry("kokkos", samples(1.5e-3))]
    for team, vector, time in ((64, 1, 3e-3), (128, 2, 1e-3), (256, 1, 2e-3)):
        one = entry("kokkos", samples(time), launch=f"team={team},vector={vector}")
        one["launch"].update(team=team, vector=vector)
        entries.append(one)
    rows = rows_of(entries)
    (figure,) = launches.figures(rows, analyse(rows, 0.02))
    text = drawn(figure, tmp_path)
    for word in ("100", "33", "best", "automatic", "team size", "vector length"):
        assert word in text
    assert "% more time" in figure.caption


def grid(save, entry):
    """A sweep: portable overtakes native between n = 10^4 and 10^5, a GPU beside a CPU."""
    for n in (10**3, 10**4, 10**5, 10**6):
        gpu = samples(2e-6 + n * 1e-11)
        stages_s = {"upload": 1e-6, "add": n * 1e-11, "finish": 1e-6}
        later = {"n": n, "stages": stages_s}
        entries = [
            entry("kokkos", samples(4e-6 + n * 1e-11), latency_s=3e-5, **later),
            entry("cuda", gpu, latency_s=3e-5, **later),
            entry("openmp", samples(n * 1e-9), **later),
            entry("kokkos", samples(n * 1.1e-9), kind="host", n=n),
        ]
        folder = save(entries, file=f"{n}.json")
    rows = build_rows(load([folder])[0], 0.02)
    return rows, analyse(rows, 0.02)


def test_sweeps_show_times_ratio_and_crossover(save, entry, tmp_path):
    found = [f for f in sweeps.figures(*grid(save, entry)) if "H200" in f.title]
    text = drawn(found[0], tmp_path)
    for word in ("wide / kokkos", "portable / native (log)", "n (log)", "10 us"):
        assert word in text
    assert "level with native" in found[0].caption


def test_crossovers_and_stage_sweeps(save, entry, tmp_path):
    rows, found = grid(save, entry)
    (crossover,) = crossovers.figures(rows, found)
    assert (
        "crossover at" in drawn(crossover, tmp_path)
        and "GPU is faster" in crossover.caption
    )
    inner = {figure.title: figure for figure in stage_sweeps.figures(rows, found)}
    text = drawn(
        inner["Stages against size: vector_add wide f32, NVIDIA H200"], tmp_path
    )
    assert "finish, kokkos" in text and "add, cuda" in text


def test_cascade_needs_three_platforms(save, entry, tmp_path):
    for number, device in enumerate(("A100", "H200", "MI300")):
        models = ("kokkos", "hip" if device == "MI300" else "cuda")
        made = [
            entry(m, samples(1e-3 + i * 1e-4), device_name=device)
            for i, m in enumerate(models)
        ]
        two = {"devices": 2, "metric": "makespan", "device_name": device}
        save([entry("kokkos", samples(1e-3), **two)], file=f"{number}x2.json")
        folder = save(made, file=f"{number}.json", launch_id=device)
        rows = build_rows(load([folder])[0], 0.02)
        figures = list(cascade.figures(rows, analyse(rows, 0.02)))
        assert len(figures) == (number == 2)
    text = drawn(figures[0], tmp_path)
    assert "written once, PP 1.00" in text and "cuda, PP 0.00" in text
    assert "1 A100, 2 H200, 3 MI300" in figures[0].caption
    assert len(figures[0].cases) == 6  # those of one device


def test_clocks_are_not_mixed(rows_of, entry):
    """Device times stand beside host times only on the host's clock."""
    gpu = entry("cuda", samples(1e-3), latency_s=1.5e-3)
    rows = rows_of([gpu, entry("openmp", samples(2e-3)), entry("hip", samples(1e-4))])
    shown, on_host = bars.entries(rows)
    assert on_host and [e.row.case.model for e in shown] == ["cuda", "openmp"]
    assert shown[0].time == 1.5e-3
    shown, on_host = bars.entries([row for row in rows if row.case.model != "openmp"])
    assert not on_host and shown[0].row.case.model == "hip"


def test_sizes_that_grow_together_make_a_sweep(save, entry, tmp_path):
    for n in (1000, 2000, 4000, 8000):
        sizes = {"train": n, "test": n // 4, "features": 7}
        more = {"n": n, "sizes": sizes, "algorithm": "knn"}
        pair = [entry(m, samples(n * 1e-9), **more) for m in ("kokkos", "cuda")]
        folder = save(pair, file=f"{n}.json")
    rows = build_rows(load([folder])[0], 0.02)
    (figure,) = sweeps.figures(rows, analyse(rows, 0.02))
    assert figure.title == "Time against size: knn f32 features=7, NVIDIA H200"
    assert "train, test along with it (log)" in drawn(figure, tmp_path)


def test_only_roofs_of_the_units_in_question_are_drawn(rows_of, entry):
    rates = {"f32": 60e12, "f64": 30e12, "u8 tensor": 1e15}
    rows = rows_of([entry("kokkos", samples(1e-3))])
    found = roofline.relevant(Ceilings(rates=rates), rows)
    assert found.rates == {"f32": 60e12}
    assert roofline.relevant(Ceilings(rates={"f64": 1e12}), rows).rates
