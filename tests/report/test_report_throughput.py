# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images per second as bars: of steps and of inference, not of epochs, one clock for all."""

import pytest

pytest.importorskip("matplotlib")

from bench.report.figures import throughput
from bench.report.figures.output import render
from bench.report.findings import analyse

SIZES = {"train": 60000, "test": 10000, "features": 784}


@pytest.fixture(name="network")
def network_of(entry):
    """network(model, seconds, ...) -> a training of 100 steps of 32 images, eight samples within a per cent."""

    def make(model, middle, sizes=SIZES, batch=32, **changes):
        samples = [middle * (1 + 0.001 * n) for n in range(8)]
        keys = ("task", "steps", "warm_up")
        parameters = {"task": "train", "steps": 100, "warm_up": 0, "epochs": 1}
        parameters |= {k: changes.pop(k) for k in keys if k in changes}
        parameters["batch"] = batch
        what = {"algorithm": "cnn", "method": "direct", "sizes": sizes}
        return entry(model, samples, **what, parameters=parameters, **changes)

    return make


def figures(rows):
    return list(throughput.figures(rows, analyse(rows, 0.02)))


def test_bars_are_images_over_time(rows_of, network, tmp_path):
    rows = rows_of([network("kokkos", 0.02), network("cuda", 0.016)])
    (figure,) = figures(rows)
    rate = 3200 / 0.016056  # the median sample
    assert figure.caption.startswith("Longer is faster. direct / cuda reaches")
    assert f"{float(f'{rate:.3g}'):,.0f} images/s: 3,200 images" in figure.caption
    canvas = figure.draw()
    lengths = [bar.get_width() for bar in canvas.axes[0].patches]
    assert lengths == pytest.approx([rate, 3200 / 0.02007], rel=1e-3)
    assert canvas.axes[0].get_xlim()[0] == 0
    assert "images/s" in render(figure, figure.slug, tmp_path)


def test_several_clocks_are_compared_on_the_host(rows_of, network):
    device = network("cuda", 0.01, latency_s=0.02)
    host = network("pytorch", 0.04, metric="host_time")
    (figure,) = figures(rows_of([device, host]))
    lengths = [bar.get_width() for bar in figure.draw().axes[0].patches]
    assert lengths[0] == pytest.approx(3200 / 0.02)
    assert "on the host's clock" in figure.caption


def test_the_last_batch_of_an_epoch_is_smaller(rows_of, network):
    """Batches of 3, 3 and 1 image: steps 1 to 4 take 3 + 1 + 3 + 3."""
    few = {"sizes": {**SIZES, "train": 7}, "batch": 3, "steps": 4, "warm_up": 1}
    (figure,) = figures(rows_of([network(m, 0.1, **few) for m in ("kokkos", "cuda")]))
    assert " 10 images of one compute" in figure.caption


def test_inference_counts_what_it_classifies_and_epochs_have_no_figure(
    rows_of, network
):
    models = ("kokkos", "cuda")
    (figure,) = figures(rows_of([network(m, 0.1, task="inference") for m in models]))
    assert "10,000 images" in figure.caption
    assert figures(rows_of([network(m, 0.1, steps=0) for m in models])) == []
    assert figures(rows_of([network("cuda", 0.1)])) == []
