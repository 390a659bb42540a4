# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures show differences: none where all is equal, dots on logarithmic axes, and no value that flattens the others."""

import pytest

pytest.importorskip("matplotlib")

from matplotlib.patches import Rectangle

from bench.report.figures import (
    accuracy,
    bars,
    launches,
    memory,
    overview,
    roofline,
    stages,
)
from bench.report.findings import analyse

STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


def times(middle):
    return [middle * factor for factor in STEADY]


def figures(module, rows):
    return list(module.figures(rows, analyse(rows, 0.02)))


def texts(canvas):
    return [text.get_text() for panel in canvas.axes for text in panel.texts]


def test_times_that_are_equal_make_no_figure(rows_of, entry):
    near = [entry(m, times(1e-3 * f)) for m, f in (("kokkos", 1), ("cuda", 1.015))]
    assert figures(bars, rows_of(near)) == []
    far = [entry(m, times(1e-3 * f)) for m, f in (("kokkos", 1), ("cuda", 1.03))]
    assert len(figures(bars, rows_of(far, folder="b"))) == 1


@pytest.mark.parametrize("module", [bars, memory])
def test_logarithmic_axes_have_dots(module, rows_of, entry):
    """The length of a bar says nothing where zero is infinitely far away."""
    entries = []
    for number, strategy in enumerate(("unified", "streamed")):
        more = {
            "parameters": {"memory": strategy},
            "stages": {"add": 1e-3, "upload": 4.0},
        }
        for model, time in (("kokkos", 2e-3), ("cuda", 1e-3)):
            one = entry(model, times(time * (number + 1)), **more)
            entries.append({**one, "name": f"{one['name']}/memory:{strategy}"})
    (figure, *_) = figures(module, rows_of(entries))
    (panel,) = figure.draw().axes
    assert panel.get_xscale() == "log" and panel.lines
    assert not [one for one in panel.patches if isinstance(one, Rectangle)]


def test_labels_name_device_and_launch(rows_of, entry):
    launch = {"requested": "auto", "league": 4096, "team": 256, "vector": 1}
    fast = {**entry("cuda", times(1e-3)), "launch": launch}
    (figure,) = figures(bars, rows_of([fast, entry("kokkos", times(2e-3))]))
    assert figure.title == "Every model: vector_add f32 n=2^28, NVIDIA H200"
    assert figure.slug == "every-model-vector-add-f32-n-268435456"
    assert "1.000 ms, 4,096 x 256 x 1" in texts(figure.draw())


def test_outcomes_are_drawn_only_where_variants_differ(rows_of, entry):
    def rows(*values):
        pairs = zip(("kokkos", "cuda", "hip"), values)
        checks = [(m, {"figures": {"accuracy": v, "loss": 0.5}}) for m, v in pairs]
        made = [
            entry(m, times(1e-3 * (n + 1)), check=c) for n, (m, c) in enumerate(checks)
        ]
        return rows_of(made)

    same = rows(0.9, 0.9, 0.9)
    assert figures(accuracy, same) == []
    (shown,) = figures(bars, same)
    assert shown.caption.endswith(
        "The share of test rows that are right is 0.9 in all of them. The loss on the training rows is 0.5 in all of them."
    )
    differing = rows(0.9, 0.91, 0.9)
    (figure,) = figures(accuracy, differing)
    assert (
        "lies between 0.9 and 0.91." in figure.caption and "loss" not in figure.caption
    )
    assert len(figure.draw().axes) == 1
    (shown,) = figures(bars, differing)
    assert "right" not in shown.caption and "0.5 in all" in shown.caption


def test_one_long_bar_is_cut(rows_of, entry):
    assert stages.reach([1.0, 2.0, 3.0]) == (3.0, False)
    assert stages.reach([100.0, 1.0, 2.0, 3.0]) == (3.75, True)
    assert stages.reach([1.0, 50.0, 60.0, 70.0]) == (
        70.0,
        False,
    )  # one short bar flattens none
    assert stages.reach([1.0, 1.0, 50.0, 50.0, 60.0]) == (1.25, True)
    lengths = {"kokkos": 1e-3, "cuda": 1.1e-3, "cupy": 2.0}
    made = [
        entry(m, times(t), stages={"upload": t, "add": t}) for m, t in lengths.items()
    ]
    (figure,) = figures(stages, rows_of(made))
    canvas = figure.draw()
    assert canvas.axes[0].get_xlim()[1] < 0.01
    assert "4.000 s ▶" in texts(canvas) and "arrow" in figure.caption
    (figure,) = figures(stages, rows_of(made[:2], folder="b"))
    assert "arrow" not in figure.caption and "▶" not in "".join(texts(figure.draw()))


def test_one_ratio_beyond_the_axis_has_an_arrow(rows_of, entry):
    entries = []
    for number in range(1, 17):
        native = 1e-3 * (0.25 if number == 9 else 1)
        entries += [
            entry(m, times(t), n=2**number)
            for m, t in (("kokkos", 1e-3), ("cuda", native))
        ]
    (figure,) = figures(overview, rows_of(entries))
    canvas = figure.draw()
    low, high = canvas.axes[0].get_xlim()
    assert 0.7 < low < 0.8 and 1.25 < high < 1.4
    assert "4 ▶" in texts(canvas)
    assert overview.limits([0.5, 0.5, 1, 1]) == (
        0.5 / 1.05,
        1.25 * 1.05,
    )  # no outliers: half of them


def test_a_long_problem_leaves_room_for_its_ratio(rows_of, entry, recwarn):
    """Matplotlib warns where labels leave no axis."""
    entries = []
    for value in (1, 2):
        many = {f"parameter_{n}": value for n in range(12)}
        name = f"problem:{value}"
        for model in ("kokkos", "cuda"):
            one = entry(model, times(1e-3), parameters=many)
            entries.append({**one, "name": f"{one['name']}/{name}"})
    (figure,) = figures(overview, rows_of(entries))
    canvas = figure.draw()
    canvas.draw_without_rendering()
    panel = canvas.axes[0]
    assert panel.get_yticklabels()[0].get_text().endswith(" …")
    assert panel.get_position().width > 0.2 and not recwarn.list


def test_launches_that_are_all_equal_make_no_map(rows_of, entry):
    def swept(slowest):
        made = [entry("kokkos", times(1e-3))]
        for team, time in ((64, 1.01e-3), (128, 1.005e-3), (512, slowest)):
            one = entry("kokkos", times(time), launch=f"team={team}")
            one["launch"].update(team=team)
            made.append(one)
        return made

    assert figures(launches, rows_of(swept(1.015e-3))) == []
    assert len(figures(launches, rows_of(swept(1.1e-3), folder="b"))) == 1


def test_only_cases_under_a_roof_are_on_a_roofline(rows_of, entry):
    cost = {"bytes": 8.0 * 2**28, "operations": 0}
    copy = entry("cuda", [1e-3] * 6, algorithm="ceilings", method="copy", cost=cost)
    add = entry(
        "cuda",
        [1e-2] * 6,
        algorithm="ceilings",
        method="multiply_add",
        cost={"bytes": 0, "operations": 1e12},
    )
    far, short = (
        entry("cuda", times(2e-3)),
        entry("cuda", times(2e-3), n=64, method="short"),
    )
    (figure,) = figures(roofline, rows_of([copy, add, far, short]))
    assert {case.method for case in figure.cases} == {"wide"}
    assert "wide / cuda in f32, 75 % of its roofline" in figure.caption
    assert figures(roofline, rows_of([copy, add, short], folder="b")) == []
