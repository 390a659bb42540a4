# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timelines: what a record tells of a traced compute, drawn."""

import pytest

from bench.report import timeline
from bench.report.merge import load


def event(device, stage, begin, end):
    return {"device": device, "stage": stage, "begin_s": begin, "end_s": end}


@pytest.fixture
def study(entry, save):
    """Two devices that copy one after the other, then compute; and a case without."""
    events = [
        event(0, "copy", 1e-3, 5e-3),
        event(1, "copy", 5e-3, 9e-3),
        event(0, "sum", 5e-3, 5.001e-3),
        event(1, "sum", 9e-3, 10e-3),
    ]
    traced = entry("cuda", [9e-3] * 6, devices=2, timeline=events)
    return save([traced, entry("kokkos", [9e-3] * 6, devices=2)])


def test_a_line_for_each_device_and_stage(study):
    (case,) = [case for case in load([study])[0] if case.timeline]
    head, *lines = timeline.draw(case).splitlines()
    assert head == f"{case.name} on NVIDIA H200: 9.000 ms"
    bars = {"".join(line.split()[:2]): line for line in lines}
    assert list(bars) == ["0copy", "0sum", "1copy", "1sum"]
    inside = {key: line.split("|")[1] for key, line in bars.items()}
    assert all(len(text) == timeline.WIDTH for text in inside.values())
    assert inside["0copy"] == "#" * 32 + " " * 40
    assert inside["1copy"] == " " * 32 + "#" * 32 + " " * 8
    assert inside["0sum"].strip() == "#" and inside["0sum"][32] == "#"
    assert inside["1sum"] == " " * 64 + "#" * 8
    assert "4.000 ms" in bars["0copy"] and "1.000 us" in bars["0sum"]


def test_the_command(study, capsys):
    assert timeline.main([str(study)]) == 0
    assert capsys.readouterr().out.count("\n") == 5
    assert timeline.main([str(study), "--only", "model:cuda"]) == 0
    assert timeline.main([str(study), "--only", "model:kokkos"]) == 1
    assert timeline.main([str(study / "none")]) == 1
    assert "holds no records" in capsys.readouterr().err
