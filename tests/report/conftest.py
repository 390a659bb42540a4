# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published folders, small."""

import pytest

from bench.report import first_screen, published, published_figures

FIRST = published.ONE[0]
STEADY = [1 + 0.001 * i for i in range(-5, 6)]  # eleven samples, median 1


def times(middle):
    return [middle * factor for factor in STEADY]


@pytest.fixture
def results(entry, save, monkeypatch):
    """The first folder: a case that loses by 10 %, in two types; SEVERAL: two GPUs."""
    shown = {FIRST: ("times-slower-nvidia-h200",)}
    monkeypatch.setattr(published_figures, "FIGURES", shown)
    monkeypatch.setattr(first_screen, "ONCE_GPU", (FIRST,))
    monkeypatch.setattr(first_screen, "ONCE_HOST", (published.ONE[1],))
    one = ("addition", "vector_add", ("f32 n=2^28",), ("f32 n=2^28",))
    monkeypatch.setattr(first_screen, "FIVE", (one,))
    monkeypatch.setattr(first_screen, "MORE", (("vector_add", ("f32 n=2^28",)),))
    of_studies = {"sizes": ("every-model-vector-add",)}
    monkeypatch.setattr(published_figures, "STUDIES", of_studies)
    for dtype in ("f64", "f32"):
        entries = [
            entry("kokkos", times(1.1e-3), dtype=dtype),
            entry("cuda", times(1.0e-3), dtype=dtype),
            entry("cub", times(2.0e-3), dtype=dtype, method="transform"),
        ]
        folder = save(entries, folder=FIRST, file=f"{dtype}.json")
    for study, models in (("sizes", ("kokkos", "cuda")), ("other", ("cub", "pytorch"))):
        of_study = [
            entry(model, times(10.0**-n)) for n, model in enumerate(models, start=2)
        ]
        save(of_study, folder="h200-studies", file=f"{study}-000.json")
    for name in published.ONE[1:]:
        for dtype in ("f32", "f64"):
            host = {"kind": "host", "device_name": "Intel Xeon", "dtype": dtype}
            made = [entry(model, times(4e-3), **host) for model in ("kokkos", "openmp")]
            save(made, folder=name, file=f"{dtype}.json")
    one = entry("kokkos", times(1e-9), latency_s=8e-3)
    save([one], folder=published.SEVERAL, file="1.json")
    two = entry("kokkos", times(5e-3), devices=2, metric="makespan")
    save([two], folder=published.SEVERAL, file="2.json")
    return folder.parent
