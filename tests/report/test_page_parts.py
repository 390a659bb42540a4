# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the figures are made of: orders, blocks, texts, colours and ids, by hand."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from bench.report.case import Event
from bench.report.figures import roofline, stages, style, timelines
from bench.report.figures.chains import is_chain
from bench.report.figures.figure import by, drawn_samples, slug
from bench.report.figures.output import THEME, inline
from bench.report.findings import analyse

TIMES = [1e-3 + i * 1e-6 for i in range(8)]


def test_stages_come_in_the_order_in_which_they_run():
    begins = {"select": 2.0, "distance": 1.0}
    names = ["download", "select", "upload", "distance", "setup"]
    found = stages.order(names, begins)
    assert found == ["setup", "upload", "distance", "select", "download"]


def test_a_compute_without_stages_is_one(rows_of, entry):
    moved = {"upload": 2e-3, "download": 1e-3}
    rows = rows_of([entry("cuda", [4e-3] * 8, stages=moved)])
    found = stages.times(rows[0].case)
    assert list(found.items()) == [
        ("upload", 2e-3),
        ("compute", 4e-3),
        ("download", 1e-3),
    ]
    rows = rows_of([entry("cuda", [4e-3] * 8, stages={**moved, "add": 3e-3})])
    assert list(stages.times(rows[0].case)) == ["upload", "add", "download"]


def test_overlap_is_work_over_time(rows_of, entry):
    times = [(0, 0.0, 1.0), (1, 0.0, 1.0), (1, 1.0, 2.0)]
    line = [
        {"device": d, "stage": "add", "begin_s": b, "end_s": e} for d, b, e in times
    ]
    (row,) = rows_of([entry("cuda", TIMES, devices=2, timeline=line)])
    assert timelines.overlap(row) == 1.5
    assert timelines.worth(row)


def test_communication_is_drawn_below_the_kernels_that_it_runs_beside(rows_of, entry):
    beside = {"queue": 1, "stage": "sum", "begin_s": 0.5, "end_s": 1.5}
    line = [
        {"device": device, "stage": "add", "begin_s": 0.0, "end_s": 1.0, **other}
        for device in (0, 1)
        for other in ({}, beside)
    ]
    (row,) = rows_of([entry("cuda", TIMES, devices=2, timeline=line)])
    assert [event.queue for event in row.case.timeline] == [0, 1, 0, 1]
    assert timelines.overlap(row) == pytest.approx(4 / 1.5)
    assert "beside them" in timelines.caption([row])
    panel = timelines.draw([row], "title").axes[0]
    bars = sorted(
        (box.y0, box.y1)
        for collection in panel.collections
        for box in (path.get_extents() for path in collection.get_paths())
    )
    assert len(bars) == 4
    assert bars == sorted(bars, key=lambda bar: bar[1]), "none above another"
    assert all(first[1] < second[0] for first, second in pairwise(bars))


def test_the_telling_timelines_come_first(rows_of, entry):
    def line(devices, *stages):
        events = [
            {"device": d, "stage": s, "begin_s": 0.0, "end_s": 1.0}
            for d in range(devices)
            for s in stages
        ]
        return rows_of([entry("cuda", TIMES, devices=devices, timeline=events)])

    several, copying, plain = (
        line(2, "add"),
        line(1, "copy in", "add"),
        line(1, "a", "b"),
    )
    both = line(2, "copy in", "add")
    assert timelines.telling([plain, copying, several]) == [several, copying]
    assert timelines.telling([several, copying, both]) == [both, several]
    assert timelines.telling([plain, plain]) == [plain]
    assert not timelines.worth(line(1, "add")[0])


def test_one_device_has_no_note_on_devices_that_overlap(rows_of, entry):
    def caption(devices, *names):
        events = [
            {"device": d, "stage": s, "begin_s": 0.0, "end_s": 1.0}
            for d in range(devices)
            for s in names
        ]
        inside = dict.fromkeys(names, 1.0)
        more = {"devices": devices, "timeline": events, "stages": inside}
        rows = rows_of([entry("cuda", TIMES, **more)])
        (figure,) = timelines.figures(rows, analyse(rows, 0.02))
        return figure.caption, [f.caption for f in stages.figures(rows, figure)]

    text, (staged,) = caption(1, "distance", "select")
    assert "devices" not in text and "same time" not in text and text.endswith(".")
    assert "overlap" not in staged
    text, (staged,) = caption(1, "copy in", "add")
    assert "devices" not in text and "overlap" in staged
    text, _ = caption(2, "distance", "select")
    assert "bars of two devices" in text and "the devices' work adds up to 4.00" in text


def test_blocks_close_gaps_that_cannot_be_seen():
    events = [Event(0, "add", b, e) for b, e in ((0.0, 1.0), (1.05, 2.0), (3.0, 3.01))]
    found = timelines.blocks(events, 0.1)
    assert [begin for begin, _ in found] == [0.0, 3.0]
    assert [length for _, length in found] == pytest.approx([2.0, 0.1])


def test_inline_svg_has_own_ids_and_follows_the_theme():
    svg = '<?xml?><svg width="72pt" height="9pt" xmlns="a" version="1.1"><title>t</title><g id="a"/>'
    svg += '<use xlink:href="#a" style="fill: #0072b2" clip-path="url(#a)"/></svg>'
    text = inline(svg, "one")
    assert 'id="one-a"' in text and 'href="#one-a"' in text and "url(#one-a)" in text
    assert "var(--blue)" in text and "#0072b2" not in text and "--width: 96px" in text
    assert (
        "<title>" not in text and "xmlns" not in text and "pt" not in text.split(">")[0]
    )


def test_the_theme_knows_every_colour_of_the_style():
    names = ("INK", "SOFT", "GRID", "PAPER")
    colours = {getattr(style, name) for name in names} | set(style.CYCLE)
    assert colours <= set(THEME)
    css = (Path(style.__file__).parents[1] / "page.css").read_text(encoding="utf-8")
    for variable in THEME.values():
        assert len(re.findall(rf"--{variable}:", css)) == 2  # light and dark


def test_texts_of_axes_and_files():
    assert [style.time_text(t) for t in (0, 1e-6, 2.5e-4, 1.0)] == [
        "0",
        "1 us",
        "250 us",
        "1 s",
    ]
    assert [style.count_text(n) for n in (1, 1000, 5e7, 2e9)] == [
        "1",
        "1k",
        "50M",
        "2G",
    ]
    assert slug("A/b: c_d <e>") == "a-b-c-d-e"
    assert style.wrap("aa bb cc", 5) == "aa bb\ncc"
    assert roofline.operations(6.56e13) == "65.6 TFLOP/s"


def test_rooflines_pair_portable_with_native(rows_of, entry):
    rows = rows_of([entry(model, TIMES) for model in ("kokkos", "cuda", "cub")])
    groups = by((row for row in rows if roofline.placed(row.case)), roofline.where)
    ((where, group),) = groups.items()
    assert where == ("vector_add", "gpu", "NVIDIA H200")
    (pair,) = roofline.pairs_of(group).values()
    assert {row.case.model for row in pair} == {"kokkos", "cuda"}


def test_samples_and_launches_are_counted(rows_of, entry):
    rows = rows_of([entry("kokkos", TIMES), entry("cuda", TIMES * 2)])
    assert drawn_samples(row.case for row in rows) == "8-16 samples x 1 launch"
    assert drawn_samples([]) == "no samples"


def test_a_grid_of_sizes_is_no_chain(rows_of, entry):
    places = [(1, 1), (1, 2), (2, 1), (2, 2)]
    grid_rows = rows_of(
        [entry("kokkos", TIMES, sizes={"a": a, "b": b}) for a, b in places]
    )
    assert not is_chain(grid_rows, ["a", "b"])
    assert is_chain([grid_rows[0], grid_rows[3]], ["a", "b"])


def test_roofs_too_close_to_tell_share_a_label():
    rates = {"f32": 60e12, "bf16 tensor": 800e12, "f16 tensor": 790e12}
    assert roofline.levels(rates, 1.35) == [
        (["bf16 tensor: 800 TFLOP/s", "f16 tensor: 790 TFLOP/s"], 800e12),
        (["f32: 60 TFLOP/s"], 60e12),
    ]
    assert len(roofline.levels(rates, 1.01)) == 3
