# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""End-to-end times of records: in rows, tables and page, and the crossovers that they give."""

import csv
import io

import pytest

from bench.report import crossovers
from bench.report.cells import every_case
from bench.report.end_to_end import COLUMNS
from bench.report.findings import analyse
from bench.report.merge import load
from bench.report.table import to_csv, to_markdown
from bench.report.view import groups

TIMES = [1e-3 + 1e-6 * n for n in range(8)]
PARTS = {"allocation": 0.3, "upload": 0.4, "compute": 0.1, "download": 0.2}


def passes(memory, state, middle, count=8):
    """Passes around a middle [s], and parts that make up 99 % of each."""
    samples = [middle * (1 + 1e-3 * (n - (count - 1) / 2)) for n in range(count)]
    names = [name for name in PARTS if state == "cold" or name != "allocation"]
    share = sum(PARTS[name] for name in names) / 0.99
    parts = {name: [s * PARTS[name] / share for s in samples] for name in names}
    return {"memory": memory, "state": state, "samples": samples, "parts": parts}


def of_gpu(cold, warm, memory="pinned"):
    return [passes(memory, "cold", cold), passes(memory, "warm", warm)]


def of_host(time):
    alone = {"compute": [time] * 8}
    return [
        {"memory": "host", "state": state, "samples": [time] * 8, "parts": alone}
        for state in ("cold", "warm")
    ]


def markdown(rows):
    return to_markdown("", groups(rows), [], [])


def test_a_row_has_medians_and_intervals_by_memory_and_state(rows_of, entry):
    both = of_gpu(8e-3, 4e-3) + of_gpu(18e-3, 14e-3, "pageable")
    (row,) = rows_of([entry("cuda", TIMES, end_to_end=both)])
    assert row.end_to_end["pinned", "cold"][0] == pytest.approx(8e-3)
    middle, low, high = row.end_to_end["pageable", "warm"]
    assert middle == pytest.approx(14e-3) and low < middle < high
    text = markdown([row])
    assert all(column in text for column in COLUMNS.values())
    assert "4.000 ms [3.986, 4.014]" in text
    (cell,) = csv.DictReader(io.StringIO(to_csv([row])))
    assert float(cell["end_to_end_pinned_cold_s"]) == pytest.approx(8e-3)
    assert float(cell["end_to_end_pageable_warm_low_s"]) < 14e-3
    parts = dict(one.split("=") for one in cell["end_to_end_parts_s"].split())
    whole = sum(float(t) for name, t in parts.items() if name.startswith("pinned/cold"))
    assert 0 < whole <= 8e-3, "the parts are no longer than the whole"
    (line,) = every_case([row])
    assert line.cells[COLUMNS["pinned", "warm"]].value == pytest.approx(4e-3)
    assert line.cells[COLUMNS["pinned", "warm"]].below.startswith("[3.986")


def test_columns_are_those_that_were_measured(rows_of, entry):
    assert "end to end" not in markdown(rows_of([entry("cuda", TIMES)]))
    text = markdown(rows_of([entry("cuda", TIMES, end_to_end=of_gpu(8e-3, 4e-3))]))
    assert COLUMNS["pinned", "warm"] in text
    assert COLUMNS["pageable", "warm"] not in text


def test_a_host_has_the_same_time_in_any_memory(rows_of, entry):
    (row,) = rows_of([entry("openmp", TIMES, end_to_end=of_host(2e-3))])
    assert {times[0] for times in row.end_to_end.values()} == {2e-3}
    assert len(row.end_to_end) == 4


def test_what_is_missing_is_told(rows_of, entry):
    why = "it compiles or captures anew for new arrays"
    cold = {"memory": "pinned", "state": "cold", "reason": why}
    rows = [
        entry("pytorch", TIMES, end_to_end=[cold, passes("pinned", "warm", 4e-3)]),
        entry("cuda", TIMES, end_to_end=[{**cold, "reason": "no room"}]),
    ]
    of = {row.case.model: row for row in rows_of(rows)}
    assert of["pytorch"].note == f"no end-to-end time (pinned cold): {why}"
    assert ("pinned", "cold") not in of["pytorch"].end_to_end
    assert "no end-to-end time: no room" in of["cuda"].note


def test_launches_of_the_program_are_put_together(all_rows, entry):
    first = entry("cuda", TIMES, end_to_end=of_gpu(8e-3, 4e-3))
    second = entry("cuda", TIMES, end_to_end=of_gpu(10e-3, 6e-3))
    (row,) = all_rows(("1", [first]), ("2", [second]))
    assert row.end_to_end["pinned", "warm"][0] == pytest.approx(5e-3, rel=1e-2)
    found = row.case.end_to_end["pinned", "cold"]
    assert len(found.launches) == 2 and len(found.parts["upload"]) == 16


@pytest.mark.parametrize(
    "wrong",
    [
        7,
        {},
        [{"memory": "pinned", "state": "cold"}],
        [{"memory": "pinned", "state": "tepid", "samples": [1]}],
        [{"memory": "magnetic", "state": "cold", "samples": [1]}],
        [{"memory": "pinned", "state": "cold", "samples": [-1]}],
        [{**passes("pinned", "cold", 1), "parts": {"upload": [1]}}],
        [{**passes("pinned", "cold", 1), "parts": {"upload": ["long"] * 8}}],
        [passes("pinned", "cold", 1)] * 2,
    ],
)
def test_a_damaged_entry_is_told(save, entry, wrong):
    cases, problems = load([save([entry("cuda", TIMES, end_to_end=wrong)])])
    assert not cases and "end_to_end" in problems[0]


def at(entry, n, cpu, gpu):
    """The GPU's compute alone is faster at any size; with its copies it is not."""
    alone = {"latency_s": 1e-9, "n": n}
    return [
        entry("openmp", TIMES, n=n, end_to_end=of_host(cpu)),
        entry("cuda", TIMES, end_to_end=of_gpu(1.0, gpu), **alone),
        entry("numpy", TIMES, n=n, kind="host", end_to_end=of_host(2 * cpu)),
        entry("cupy", TIMES, end_to_end=of_gpu(1.0, gpu), **alone),
    ]


@pytest.mark.parametrize(
    "kind, peers", [("library", False), ("portable_library", False), ("peer", True)]
)
def test_a_library_is_no_peer_in_crossovers(entry, all_rows, kind, peers):
    def pair(n, cpu, gpu):
        made = entry("onednn", kind="host", samples=[cpu] * 6, n=n)
        other = entry("cudnn", samples=[gpu] * 6, latency_s=gpu, n=n)
        return [{**one, "kind": kind} for one in (made, other)]

    rows = all_rows(("1", pair(100, 1e-6, 4e-6) + pair(1600, 16e-6, 4e-6)))
    assert len(crossovers.device_crossovers(rows, peers=peers)) == 1
    assert crossovers.device_crossovers(rows, peers=not peers) == []


def test_crossovers_are_those_of_the_whole_pass(entry, all_rows):
    """CPU / GPU: 1/4 at 100, 4 at 1600: level at 400; peers 1/2 and 8: level at 100 * 16^(1/4)."""
    rows = all_rows(
        ("1", at(entry, 100, 1e-6, 4e-6)), ("1", at(entry, 1600, 16e-6, 4e-6))
    )
    (computing,) = crossovers.device_crossovers(rows)
    assert computing.crossover is None, "at every size"
    cold, cold_peers, own, peers = crossovers.end_to_end_crossovers(rows)
    assert cold.crossover is None and cold_peers.crossover is None
    assert own.crossover.value == pytest.approx(400, rel=1e-3)
    assert peers.crossover.value == pytest.approx(200, rel=1e-3)
    assert (peers.points[0].cpu.case.model, peers.points[0].gpu.case.model) == (
        *("numpy", "cupy"),
    )
    text = "\n".join(analyse(rows, 0.02).texts())
    assert "from host to host in pinned memory, warm: NVIDIA H200 is faster" in text
    assert "from about n = 400 on, measured at 100 and 1,600" in text
    assert "warm, Python peers: NVIDIA H200 is faster" in text
    assert "in pageable memory" not in text
