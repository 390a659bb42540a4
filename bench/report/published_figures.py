# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures of the pages, drawn from the published records.

They lie in ``bench/results/figures`` as SVG: the same records and the same Matplotlib give
the same bytes, so that a test can tell a stale figure.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path

from . import statistics
from .fields import Broken
from .figures import Figure, all_figures
from .findings import analyse
from .published_records import read

FOLDER = "figures"
FIGURES = {  # a folder of results -> the figures of it that are shown
    "h200": (
        "native-portable-nvidia-h200",
        "every-model-knn-f32-train-52500-test-17500-features-784",
        "every-model-logistic-regression-f32-rows-50000000-features-8-steps-10-learning-rate-0-5-tolerance-0-0",
        "search-logistic-regression-unfused-kokkos-f32-rows-1000000-features-64-steps-50-learning-rate-0-2-tolerance-0-0-nvidia-h",
    ),
    "h200-x4": (
        "strong-scaling-logistic-regression-f32-rows-50000000-features-8-steps-20-learning-rate-0-5-nvidia-h200",
        "timelines-sum-from-host-f32-n-33554432-4-x-nvidia-h200",
    ),
}
STUDIES = {  # the same, on the page of the studies
    "h200-studies": (
        "time-against-size-logistic-regression-f64-features-2-nvidia-h200",
        "time-against-size-distance-matrix-f64-dimension-3-nvidia-h200",
        "stages-against-size-distance-matrix-product-f64-dimension-3-nvidia-h200",
        "time-against-size-softmax-regression-f32-test-17500-features-784-nvidia-h200",
        "time-against-size-vector-add-f32-nvidia-h200",
        "memory-strategies-vector-add-wide-f32-n-33554432-nvidia-h200",
        "time-against-size-linear-regression-f32-features-1-nvidia-h200",
        "every-model-linear-regression-f32-points-5000000-features-1-steps-1-start-study",
        "timelines-knn-f32-train-52500-test-17500-features-784-2-x-nvidia-h200",
        "timelines-sum-from-host-f32-n-33554432-2-x-nvidia-h200",
    ),
}


def figures(results: Path, folder: str, names: Iterable[str]) -> Iterator[Figure]:
    """The figures of these names; raises Broken for one that the records do not give."""
    _, rows = read(results / folder)
    found = {f.slug: f for f in all_figures(rows, analyse(rows, statistics.MARGIN))}
    for name in names:
        if name not in found:
            known = ", ".join(found)
            raise Broken(f"{results}: no figure '{name}'; there are: {known}")
        yield found[name]


def published(results: Path) -> list[Figure]:
    """Those of the page of all results, in order; the first is the README's too."""
    return [f for part in FIGURES.items() for f in figures(results, *part)]


def of_studies(results: Path) -> list[Figure]:
    """Those of the page of the studies, in order."""
    return [f for part in STUDIES.items() for f in figures(results, *part)]


def svg(figure: Figure) -> str:
    """The figure on white, for readers of dark pages too."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    canvas = figure.draw()
    canvas.set_facecolor("white")
    text = io.StringIO()
    metadata = {"Date": None, "Title": figure.title}
    FigureCanvasSVG(canvas).print_svg(text, metadata=metadata)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def markdown(found: list[Figure], up: str) -> str:
    """The figures with their captions; ``up``: the way from the page to the README."""
    parts = [
        f"![{figure.title}]({up}bench/results/{FOLDER}/{figure.slug}.svg)\n\n*{figure.caption}*"
        for figure in found
    ]
    return "\n\n".join(parts) + "\n"


def write(results: Path, found: list[Figure]) -> None:
    """Draws them all anew; files no longer shown are removed."""
    folder = results / FOLDER
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    for figure in found:
        (folder / f"{figure.slug}.svg").write_text(svg(figure), encoding="utf-8")


def stale(results: Path, found: list[Figure]) -> list[str]:
    """Names of the files that are not what would be drawn."""
    folder = results / FOLDER
    drawn = {f"{figure.slug}.svg": svg(figure) for figure in found}
    there = {path.name: path.read_text("utf-8") for path in folder.glob("*.svg")}
    names = sorted(drawn.keys() | there.keys())
    return [name for name in names if drawn.get(name) != there.get(name)]
