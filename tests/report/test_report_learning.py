# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accuracy against epochs over seeds: statistics by hand, times to a target, variants that stand out."""

import random

import numpy as np
import pytest

from bench.report import cells, learning, table
from bench.report.figures import learning as figure_module
from bench.report.findings import analyse
from bench.report.permutation import difference

SIZES = {"train": 60000, "test": 10000}


def training(entry, model, seed, curve, seconds=4.0, **changes):
    """One training of four seconds."""
    check = {"figures": {"accuracy": curve[-1]}, "curves": {"accuracy": curve}}
    more = {"algorithm": "cnn", "method": "direct", "sizes": SIZES, **changes}
    one = entry(model, [seconds], check=check, parameters={"seed": seed}, **more)
    one["name"] += f"/seed:{seed}"
    return one


def load_all(all_rows, trainings):
    """Rows of records, one per seed, as League writes them."""
    by_seed = {}
    for one in trainings:
        by_seed.setdefault(one["parameters"]["seed"], []).append(one)
    return all_rows(*(("1", group) for group in by_seed.values()))


CURVES = ([0.98, 0.9890, 0.9900, 0.9930], [0.97, 0.9900, 0.9910, 0.9910])


@pytest.fixture
def two_seeds(all_rows, entry):
    """build(**changes) -> rows of one variant with two seeds."""

    def build(**changes):
        found = (training(entry, "cuda", s, c, **changes) for s, c in enumerate(CURVES))
        return load_all(all_rows, found)

    return build


def test_statistics_are_over_seeds(two_seeds):
    (one,) = learning.trainings(two_seeds())
    assert one.title == "cnn f32 train=60,000 test=10,000"
    assert one.mean == pytest.approx(0.992)
    assert one.deviation == pytest.approx(0.001 * 2**0.5)
    assert one.curves.shape == (2, 4)
    row = dict(zip(learning.COLUMNS, learning.cells([one])[0]))
    assert (row["seeds"], row["epochs"], row["accuracy"]) == ("2", "4", "99.20 %")
    assert (row["deviation"], row["minimum"]) == ("0.14 points", "99.10 %")
    assert (row["maximum"], row["expected"]) == ("99.30 %", "")


def test_time_to_a_target_ends_with_an_epoch(two_seeds):
    (one,) = learning.trainings(two_seeds())
    assert one.reached(0.99) == [(3, pytest.approx(3.0)), (2, pytest.approx(2.0))]
    assert learning.target_text(one, 0.99) == "2.500 s (epochs 2-3)"
    assert learning.target_text(one, 0.9) == "1.000 s (epoch 1)"
    assert learning.target_text(one, 0.992) == "1 of 2 seeds"
    assert learning.target_text(one, 0.9931) == "never"


def test_one_seed_has_no_deviation(all_rows, entry):
    (one,) = learning.trainings(
        load_all(all_rows, [training(entry, "cuda", 1, CURVES[0])])
    )
    assert one.deviation is None
    (text,) = learning.texts([one])
    assert "deviation" not in text and "1 seed)" in text


def test_a_training_outside_of_its_band_is_told(two_seeds):
    rows = two_seeds(expected={"accuracy": [0.9885, 0.992]})
    (one,) = learning.trainings(rows)
    assert learning.expected_text(one) == "98.85-99.20 %: 1 outside"
    told = [t for t in analyse(rows, 0.02).texts() if "UNEXPECTED" in t]
    assert len(told) == 1
    assert "UNEXPECTED accuracy: 0.993, the study expects 0.9885 to 0.992" in told[0]
    assert told[0].endswith("/seed:0")
    inside = two_seeds(expected={"accuracy": [0.9885, 0.994]})
    assert not any("UNEXPECTED" in t for t in analyse(inside, 0.02).texts())


def test_what_the_check_does_not_give_is_told(all_rows, entry):
    missing = training(entry, "cuda", 1, CURVES[0], expected={"accuracies": [0, 1]})
    rows = load_all(all_rows, [missing])
    assert any(
        "UNEXPECTED accuracies: not in the check" in t
        for t in analyse(rows, 0.02).texts()
    )


def test_what_differs_is_not_put_together(all_rows, entry):
    base = training(entry, "cuda", 1, CURVES[0])
    other = training(entry, "cuda", 2, CURVES[1], execution="graph")
    found = learning.trainings(load_all(all_rows, [base, other]))
    assert [(one.variant, len(one.rows)) for one in found] == [
        ("direct / cuda", 1),
        ("direct graph / cuda", 1),
    ]
    assert len(learning.by_problem(found)) == 1
    longer = training(entry, "cuda", 2, CURVES[1], sizes={**SIZES, "test": 5000})
    found = learning.trainings(load_all(all_rows, [base, longer]))
    assert len(learning.by_problem(found)) == 2


def noisy(seed, shift=0.0):
    """Five curves of fourteen epochs around 1 - 0.02 / epoch; the third is lower by the shift."""
    draw = random.Random(seed)
    curves = [
        [1 - 0.02 / n + draw.gauss(0, 5e-4) for n in range(1, 15)] for _ in range(5)
    ]
    for curve in curves:
        curve[2] -= shift
    return curves


def several(all_rows, entry, shift):
    models = ("cuda", "kokkos", "kokkos_specialised", "cudnn")
    return load_all(
        all_rows,
        [
            training(entry, model, seed, curve)
            for number, model in enumerate(models)
            for seed, curve in enumerate(noisy(number, shift * (model == "kokkos")))
        ],
    )


def test_a_variant_that_stands_out_at_an_earlier_epoch_is_told(all_rows, entry):
    told = learning.texts(learning.trainings(several(all_rows, entry, 4e-3)))
    odd = [text for text in told if "ACCURACY of" in text]
    assert len(odd) == 1
    assert "direct / kokkos," in odd[0] and "after epoch 3" in odd[0]
    assert "is -0.38 points off" in odd[0] and "p = 0.0001" in odd[0]


def test_variants_that_are_alike_are_not(all_rows, entry):
    told = learning.texts(learning.trainings(several(all_rows, entry, 0)))
    assert len(told) == 4 and not any("ACCURACY of" in text for text in told)


def test_permutations_keep_their_level():
    """Of curves from one distribution, a share of the level stands out by chance."""
    draw = np.random.default_rng(7)
    pairs = [draw.normal(size=(2, 5, 14)) for _ in range(200)]
    found = [difference(own, [rest], 0.05) for own, rest in pairs]
    assert sum(test.p <= 0.05 for test in found if test) <= 20


def test_equal_curves_count_once_and_few_tell_nothing():
    draw = np.random.default_rng(3)
    own, rest = draw.normal(size=(2, 5, 14))
    twice = difference(own, [rest, rest], 0.05)
    assert twice == difference(own, [rest], 0.05)
    assert difference(own, [own], 0.05) is None
    assert difference(own[:2], [rest[:2]], 0.05) is None


def test_page_and_markdown_have_the_table(two_seeds):
    rows = two_seeds(expected={"accuracy": [0.9885, 0.994]})
    found = analyse(rows, 0.02).trainings
    (line,) = cells.trainings(found)
    assert line.cells["accuracy"].value == pytest.approx(0.992)
    assert line.cells["time to 99 %"].text == "2.500 s (epochs 2-3)"
    text = table.to_markdown("", [], [], [], trainings=found)
    assert (
        "| cnn f32 train=60,000 test=10,000 | direct / cuda | NVIDIA H200 | 2 |" in text
    )


def test_the_figure_says_what_came_out(all_rows, entry, tmp_path):
    pytest.importorskip("matplotlib")
    from bench.report.figures.output import render

    rows = several(all_rows, entry, 4e-3)
    (figure,) = figure_module.figures(rows, analyse(rows, 0.02))
    assert figure.title == "Test accuracy: cnn f32 train=60,000 test=10,000"
    assert figure.slug == "test-accuracy-cnn-f32-train-60000-test-10000"
    assert "After 14 epochs" in figure.caption and len(figure.cases) == 20
    text = render(figure, figure.slug, tmp_path)
    for word in ("direct / kokkos_specialised", "epoch", "99 %", "NVIDIA H200"):
        assert word in text
