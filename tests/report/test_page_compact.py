# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of a small page: compact SVG, links that stay, warnings by kind, forked processes."""

import io
import os
import re
from pathlib import Path

import pytest

from bench.report.__main__ import main as report_main
from bench.report.anchors import anchors
from bench.report.case import Build, Context
from bench.report.figures import processes
from bench.report.figures.compact import compact, path, share
from bench.report.figures.processes import side_by_side
from bench.report.warnings import between, kinds

SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">{}</svg>'
DOT = "M 0 2 C 0.53 2 1.04 1.79 1.41 1.41 C 1.79 1.04 2 0.53 2 0 C 2 -0.53 1.79 -1.04 1.41 -1.41 C 1.04 -1.79 0.53 -2 0 -2 "
DOT += "C -0.53 -2 -1.04 -1.79 -1.41 -1.41 C -1.79 -1.04 -2 -0.53 -2 0 C -2 0.53 -1.79 1.04 -1.41 1.41 C -1.04 1.79 -0.53 2 0 2 z"


def inside(text):
    """What is left of these elements of a drawing."""
    return re.fullmatch(r"<svg [^>]*?(?:>(.*)</svg>|/>)", compact(SVG.format(text)))[1]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('<g id="a"><g id="b"><text x="1.26">1 &lt; 2</text></g></g>', '<text x="1.3">1 &lt; 2</text>'),
        ('<g id="a"><path d="M 1 1 L 2 2" style="fill: none"/></g>', None),
        ('<path d="M 1 1 L 2 2" style="fill: none; stroke: red"/>', '<path d="M1 1L2 2" style="fill:none;stroke:red"/>'),
        ('<text transform="rotate(-0 1 2)">a</text>', "<text>a</text>"),
        ('<text transform="rotate(-90 1.04 2)">a</text>', '<text transform="rotate(-90 1 2)">a</text>'),
        ('<text style="font: 9px; font-family: \'A\', b; fill: red">a</text>', '<text style="font:9px;fill:red">a</text>'),
        ('<defs><path id="m" d="M 0 0 L 0 3.5"/></defs><use xlink:href="#m"/>', '<defs><path id="m" d="M0 0V3.5"/></defs><use xlink:href="#m"/>'),
        (f'<path d="{DOT}"/>', '<path d="M-2 0a0.1 0.1 0 1 0 4 0 0.1 0.1 0 1 0-4 0z"/>'),
    ],
)  # fmt: skip
def test_what_is_not_seen_goes(text, kept):
    assert inside(text) == kept


def test_eight_curves_that_are_no_circle_stay():
    assert "a" not in inside(f'<path d="{DOT.replace("2 0 C", "2.5 0 C", 1)}"/>')[8:-3]


def test_lines_along_an_axis_name_one_coordinate():
    assert path("M 1 2 L 3 2 L 3 -4 L 5 6 L 7 -8 z M 0 0 L 1 1") == (
        "M1 2H3V-4L5 6 7-8zM0 0L1 1"
    )
    assert path("M 0 0 M 1 1 C 1 2 3 4 5 6") == "M0 0M1 1C1 2 3 4 5 6"


def test_styles_and_hatches_are_held_once():
    hatch = '<svg style="--width: 9px"><defs><pattern id="{0}-h"><path style="fill:red"/></pattern></defs><path style="fill:url(#{0}-h)"/></svg>'
    found, css, hatches = share([hatch.format("f0"), hatch.format("f1")])
    assert found == ['<svg style="--width: 9px"><path class="s0"/></svg>'] * 2
    assert css == ".s0 { fill:url(#hatch0) }\n.s1 { fill:red }"
    assert hatches == '<pattern id="hatch0"><path class="s1"/></pattern>'


def test_links_stay_where_rows_are_added():
    few, more = anchors("case", ["b", "b"]), anchors("case", ["a", "b", "c", "b"])
    assert few == [more[1], more[3]] and few[1] == f"{few[0]}-2"
    assert re.fullmatch("case-[0-9a-f]{8}", few[0])


def context(launch, *texts, host="n1"):
    return Context(Build("p", "g", "k"), launch, "", (), texts, host)


def test_warnings_are_told_by_kind():
    load, gpu = "load {} on {} threads", "GPU {}: in use"
    first = context("1", load.format("125.", 16), *map(gpu.format, range(4)))
    second = context("2", load.format("9.5", 12), "power cap 500 W", host="n2")
    busy, used, cap = kinds([first, second, first])
    assert busy.text == "load 9.5 to 125 on 12 to 16 threads"
    assert (busy.count, busy.where) == ("2 launches", "2 launches on n1, n2")
    assert (used.text, used.where) == ("GPU 0 to 3: in use", "1 launch on n1")
    assert cap.text == "power cap 500 W"
    assert between(["125.", "125."]) == "125."
    assert kinds([]) == []


def test_processes_return_what_one_would():
    one = side_by_side(lambda number: number**2, 5)
    many = side_by_side(lambda number: number**2, 40)
    assert one == [0, 1, 4, 9, 16] and many == [number**2 for number in range(40)]


def test_what_a_killed_process_leaves_is_done_here():
    here = os.getpid()
    task = lambda number: number if os.getpid() == here else os._exit(9)
    assert side_by_side(task, 40) == list(range(40))


def test_an_svg_is_that_of_matplotlib(rows_of, entry):
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    from bench.report.figures import bars
    from bench.report.figures.drawing import to_svg
    from bench.report.findings import analyse

    times = [[1e-3 * i + 1e-6 * j for j in range(8)] for i in (1, 2)]
    rows = rows_of([entry("kokkos", times[1]), entry("cuda", times[0])])
    (figure,) = bars.figures(rows, analyse(rows, 0.02))
    text, metadata = io.StringIO(), {"Date": None, "Title": "t"}
    FigureCanvasSVG(figure.draw()).print_svg(text, metadata=metadata)
    assert [to_svg(figure.draw(), "t") for _ in range(2)] == [text.getvalue()] * 2


def test_the_smallest_text_of_any_figure_can_be_read_on_a_phone():
    """Points of a text x 4/3 pixels x the least width of a drawing over its own."""
    report = Path(processes.__file__).parents[1]
    sources = [path.read_text("utf-8") for path in (report / "figures").glob("*.py")]
    found = re.findall(r'font\.?size["\']?[=:]\s*([\d.]+)', " ".join(sources))
    (least,) = re.findall(
        r"min-width: calc\(([\d.]+) \* var\(--width\)\)",
        (report / "page.css").read_text("utf-8"),
    )
    assert len(found) > 10 and min(map(float, found)) * 4 / 3 * float(least) >= 11


def test_png_files_are_written_on_demand(save, entry):
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    folder = save([entry("kokkos", [2e-3] * 8), entry("cuda", [1e-3] * 8)])
    for options, count in (["--png"], 1), ([], 0):
        assert report_main([str(folder), "--quiet", *options]) == 0
        text = (folder / "report/index.html").read_text("utf-8")
        names = [path.stem for path in (folder / "report/figures").glob("*.svg")]
        pictures = [path.stem for path in (folder / "report/figures").glob("*.png")]
        assert names and sorted(pictures) == sorted(names) * count
        assert text.count('.png" download>PNG</a>') == len(pictures)
