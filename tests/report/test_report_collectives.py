# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives: bus bandwidth beside the links, and the figure against bytes."""

import pytest

from bench.report.figures import collectives
from bench.report.figures.output import render
from bench.report.findings import analyse

SIZES = (8, 4096, 2**20)


def collective(entry, method, size, time, kind="cuda", **changes):
    """Six samples of a collective whose factor is 1."""
    changes = {"devices": 2, "communicator": "local", **changes}
    extra = {"algorithm": "collectives", "method": method, "sizes": {"bytes": size}}
    extra["cost"] = {"bytes": float(size), "operations": 0}
    extra["name"] = "/".join([method, str(size), kind, *map(str, changes.values())])
    return entry(kind, [time] * 6, **extra, **changes)


def row(rows, method, **wanted):
    (found,) = [
        r
        for r in rows
        if r.case.method == method
        and all(getattr(r.case, key) == value for key, value in wanted.items())
    ]
    return found


def test_links_are_what_exchange_reached_on_as_many_gpus(entry, rows_of):
    rows = rows_of(
        [
            collective(entry, "exchange", 2**30, 4e-3),
            collective(entry, "exchange", 2**30, 2e-3, communicator="nccl"),
            collective(entry, "all_reduce", 2**30, 3e-3),
            collective(entry, "all_reduce", 2**30, 3e-3, devices=4),
            collective(entry, "all_reduce", 2**30, 3e-3, kind="openmp"),
        ]
    )
    two = row(rows, "all_reduce", devices=2, device_kind="gpu")
    assert two.floor_ratio == pytest.approx(1.5)
    assert (two.rate, two.rate_unit) == (pytest.approx(2**30 / 3e-3 * 1e-9), "GB/s")
    four = row(rows, "all_reduce", devices=4)
    assert four.floor_ratio is None
    assert "links not measured" in four.note
    host = row(rows, "all_reduce", device_kind="host")
    assert host.floor_ratio is None
    assert "links" not in host.note


def test_few_bytes_are_not_in_a_cache(entry, rows_of):
    (one,) = rows_of([collective(entry, "broadcast", 8, 5e-6)])
    assert "in cache" not in one.note


def test_the_engines_that_auto_took_are_noted(entry, rows_of):
    taken = {"communicator": "auto", "engines": ["local", "nccl"]}
    (one,) = rows_of([collective(entry, "broadcast", 8, 5e-6, **taken)])
    assert "auto took local, nccl" in one.note


def sweep(entry, method="all_reduce", **changes):
    return [
        collective(entry, method, size, 1e-6 * (1 + size / 1e4), **changes)
        for size in SIZES
    ]


def test_figure_has_a_line_for_each_engine_and_execution(entry, rows_of, tmp_path):
    entries = [
        *sweep(entry),
        *sweep(entry, communicator="nccl", execution="graph"),
        *sweep(entry, communicator="auto")[:2],  # too few sizes
    ]
    rows = rows_of([*entries, *sweep(entry, "exchange", communicator="nccl")])
    figures = list(collectives.figures(rows, analyse(rows, 0.02)))
    assert sorted(figure.title.split()[0] for figure in figures) == [
        "all_reduce",
        "exchange",
    ]
    (figure,) = [one for one in figures if one.title.startswith("all_reduce")]
    assert len(figure.cases) == 6
    assert "best of exchange" in figure.caption
    text = render(figure, figure.slug, tmp_path)
    for words in ("local, stream", "nccl, graph", "bus bandwidth", "bytes of a buffer"):
        assert words in text
    assert "auto, stream" not in text


def test_figure_says_where_the_links_were_not_measured(entry, rows_of):
    rows = rows_of(sweep(entry))
    (figure,) = collectives.figures(rows, analyse(rows, 0.02))
    assert "links were not measured" in figure.caption
    rows = rows_of(sweep(entry, kind="openmp"))
    (figure,) = collectives.figures(rows, analyse(rows, 0.02))
    assert "share one memory" in figure.caption


def test_no_figure_of_few_sizes(entry, rows_of):
    rows = rows_of(sweep(entry)[:2])
    assert list(collectives.figures(rows, analyse(rows, 0.02))) == []
