# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures of the pages, drawn from the published records.

They lie in ``bench/results/figures`` as SVG: the same records and the same Matplotlib give
the same bytes, so that a test can tell a stale figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from .fields import Broken
from .figures import Figure, all_figures
from .findings import analyse
from .options import MARGIN
from .published_records import ONCE, read
from .rows import Row

FOLDER = "figures"
FIGURES = {  # a folder of results -> how the names of its figures that are shown begin
    "h200": (
        "times-slower-nvidia-h200",
        "every-model-knn-f32-train-52500-test-17500-features-784-dataset-mnist",
        "every-model-logistic-regression-f32-rows-50000000-features-8-steps-10-learning-rate-0-5-tolerance-0-0",
        "every-model-cnn-f32-train-60000-test-10000-features-784-batch-64",
    ),
    "h100": ("times-slower-nvidia-h100",),
    "h200-search": (
        "search-logistic-regression-unfused-kokkos-f32-rows-1000000-features-64-steps-50-learning-rate-0-2-nvidia-h200",
    ),
    "h200-scaling": (
        "strong-scaling-logistic-regression-f32-rows-50000000-features-8-steps-20-learning-rate-0-5-nvidia-h200",
    ),
    "h200-x4": ("timelines-sum-from-host-f32-n-33554432-4-x-nvidia-h200",),
    "h200-shapes": ("time-over-bound-of",),
    **{folder: ("times-slower",) for folder in ONCE},
}
OF_THEIR_FOLDER = ONCE  # whose name they get
STUDY_RECORDS = "h200-studies"
STUDIES = {  # a study -> how the names of its figures on the page of the studies begin
    "logistic_sizes": ("time-against-size",),
    "timeline_knn": ("timelines",),
    "timeline_sum": ("timelines",),
    "logistic_frameworks": ("every-model-logistic-regression-f32",),
    "knn_devices": ("strong-scaling-knn-i32-train-13125",),
    "knn_one_gpu": ("every-model-knn-f32-train-26250",),
    "softmax_sizes": ("time-against-size",),
    "distance_numpy_cupy": (
        "cpu-against-gpu-distance-matrix-f64-dimension-3-metric-squared-from-host-to-host-in-pageable-memory-warm-py",
    ),
    "distance_operations": (
        "stages-against-size-distance-matrix-product-f64-dimension-3-nvidia",
    ),
    "distance_numba": ("time-against-size",),
    "distance_memory": ("every-model",),
    "images_per_second": ("images-per-second",),
    "data_parallel": (
        "strong-scaling-cnn-f32-train-60000-test-10000-features-784-batch-64",
    ),
    "vector_add_sizes": ("time-against-size",),
    "unified_memory": ("memory-strategies",),
    "descent_levels": ("time-against-size-linear-regression-f32",),
    "descent_fused": ("stages",),
    "descent_pytorch": ("time-against-size",),
    "descent_operations": ("stages",),
    "ladder": ("ladder-sum", "ladder-distance", "ladder-knn", "ladder-linear"),
    "polynomial": ("every-model-polynomial-fit-f32",),
}


def chosen(rows: list[Row], starts: Iterable[str], where: str) -> Iterator[Figure]:
    """For each of these the figure of that name, else the first whose name begins so; raises Broken where there is none."""
    found = list(all_figures(rows, analyse(rows, MARGIN)))
    for start in starts:
        there = [figure for figure in found if figure.slug.startswith(start)]
        if not there:
            known = ", ".join(figure.slug for figure in found)
            raise Broken(f"{where}: no figure '{start}'; there are: {known}")
        yield min(there, key=lambda figure: figure.slug != start)  # the first such


def published(results: Path) -> list[Figure]:
    """Those of the page of all results, in order."""
    return [
        named(folder, figure) if folder in OF_THEIR_FOLDER else figure
        for folder, starts in FIGURES.items()
        for figure in chosen(read(results / folder)[1], starts, folder)
    ]


def named(of: str, figure: Figure) -> Figure:
    """The figure with its folder or study in the name, since others have one of the kind."""
    return replace(figure, name=f"{of} {figure.name or figure.title}")


def of_studies(results: Path) -> dict[str, list[Figure]]:
    """Those of each study, drawn from its records alone; their names begin with the study's, as those of its records do."""
    found: dict[str, list[Figure]] = {}
    for study, starts in STUDIES.items():
        _, rows = read(results / STUDY_RECORDS, f"{study}-")
        found[study] = [named(study, figure) for figure in chosen(rows, starts, study)]
    return found


def svg(figure: Figure) -> str:
    """The figure on white, for readers of dark pages too."""
    from .figures.drawing import to_svg

    canvas = figure.draw()
    canvas.set_facecolor("white")
    text = to_svg(canvas, figure.title)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def markdown(found: list[Figure], up: str) -> str:
    """The figures with their captions; ``up``: the way from the page to the README."""
    parts = [
        f"![{figure.title}]({up}bench/results/{FOLDER}/{figure.slug}.svg)\n\n*{figure.caption}*"
        for figure in found
    ]
    return "\n\n".join(parts) + "\n"


def study_markdown(found: dict[str, list[Figure]], up: str) -> str:
    """The same, under a heading for each study."""
    return "\n".join(
        f"### {study}\n\n{markdown(figures, up)}" for study, figures in found.items()
    )


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
