# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replays: actions for many devices, the platform file, and SimGrid's own times where it is installed."""

import csv
import json
from xml.etree import ElementTree

import pytest

from bench.cluster.simgrid.__main__ import main
from bench.cluster.simgrid.actions import Step, actions, read_step
from bench.cluster.simgrid.machine import Machine, to_xml
from bench.cluster.simgrid.replay import available, replay
from bench.report.fields import Broken

needs_simgrid = pytest.mark.skipif(
    not available(), reason="SimGrid is not installed (bench/setup --cluster)"
)
TRACE = (
    "# case linear_regression/method:fused/model:serial/dtype:f32/points:10\n"
    + "".join(
        f"{rank} {action}\n"
        for rank in (0, 1)
        for action in (
            *("init", "compute 300", "allreduce 80 0 6", "compute 100"),
            *("allreduce 80 0 6", "compute 100", "finalize"),
        )
    )
)
NODE, NETWORK = 2e-6, 6e-6


def machine(nodes):
    return Machine(nodes, 8, NODE, 400e9, NETWORK, 50e9)


@pytest.fixture
def step(tmp_path):
    (tmp_path / "steps.trace").write_text(TRACE)
    return read_step(tmp_path / "steps.trace")


def test_actions_of_many(step):
    assert step.shards == 2
    found = actions(step, 5, 16, compute_s=1e-3, call_s=4e-6, grown=1)
    assert found == [
        *("5 init", "5 compute 600000", "5 compute 4000", "5 allreduce 80 0 6"),
        *("5 compute 200000", "5 compute 4000", "5 allreduce 80 0 6"),
        *("5 compute 200000", "5 finalize"),
    ]
    assert actions(step, 0, 1, 1e-3, 4e-6, 1) == [
        *("0 init", "0 compute 600000", "0 compute 200000", "0 compute 200000"),
        "0 finalize",
    ]


def test_calls_of_other_kinds():
    lines = (
        ("compute", "10"),
        ("isend", "1", "0", "64", "6"),
        ("irecv", "1", "0", "64", "6"),
        ("waitall",),
        ("gather", "100", "100", "0", "6", "6"),
        ("allgather", "50", "50", "6", "6"),
        ("reducescatter", "50", "50", "0", "6"),
    )
    found = actions(Step(lines, 2), 3, 4, 1e-6, 0, grown=0.5)
    assert [line for line in found if "compute" not in line] == [
        *("3 init", "3 isend 2 0 64 6", "3 irecv 2 0 64 6", "3 waitall"),
        *("3 gather 50 50 0 6 6", "3 allgather 25 25 6 6"),
        *("3 reducescatter 25 25 25 25 0 6", "3 finalize"),
    ]
    assert "1 isend 0 0 64 6" in (inner := actions(Step(lines, 2), 1, 4, 1e-6, 0, 1))
    assert "1 isend 2 0 64 6" in inner


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 init\n0 compute 5\n", "traces 1 device"),
        ("0 init\n1 init\n0 fly 5\n", "no action of League: 'fly 5'"),
        ("0 init\n1 init\n", "computes nothing"),
    ],
)
def test_refuses_a_trace(tmp_path, text, message):
    (tmp_path / "bad").write_text(text)
    with pytest.raises(Broken, match=message):
        read_step(tmp_path / "bad")


def test_the_platform_file():
    text = to_xml(machine(3))
    root = ElementTree.fromstring(text.split('simgrid.dtd">\n')[1])
    world = root.find("zone")
    assert len(world.findall("cluster")) == 3
    assert len(world.findall("zoneRoute")) == 6
    assert "network" not in to_xml(machine(1))
    assert len(machine(3).hosts) == 24


@needs_simgrid
@pytest.mark.parametrize(("nodes", "ranks"), [(1, 2), (1, 8), (2, 16), (4, 32)])
def test_the_time_of_trees(step, nodes, ranks):
    """Two sums: a tree up and one down, whose longest way SimGrid's ranks give."""
    time = replay(step, machine(nodes), ranks, 1e-3, 4e-6, 1)
    stages = (ranks - 1).bit_length()
    least = 1e-3 + 2 * (4e-6 + 2 * stages * NODE)
    most = 1e-3 + 2 * (4e-6 + 2 * stages * (NODE if nodes == 1 else NETWORK))
    assert 0.999 * least <= time <= 1.001 * most
    if nodes == 1:
        assert time == pytest.approx(most, rel=1e-3)


@needs_simgrid
def test_one_device_only_computes(step):
    assert replay(step, machine(1), 1, 1e-3, 4e-6, 1) == pytest.approx(1e-3, rel=1e-6)


@needs_simgrid
def test_bytes_take_time_by_the_narrowest_link():
    size = 2**20
    lines = (("compute", "1"), ("allreduce", str(size), "0", "6"))
    within = replay(Step(lines, 2), machine(1), 8, 1e-9, 0, 1)
    ring = 2 * 7 / 8 * size / 400e9
    assert ring < within < 1.3 * ring + 40 * NODE
    across = replay(Step(lines, 2), machine(2), 16, 1e-9, 0, 1)
    assert across > 2 * 15 / 16 * size / 50e9


def predictions(tmp_path):
    parts = {"work": 1e-3, "call": 8e-6, "stage": 5e-5}
    points = [{"devices": n, "nodes": -(-n // 8), "parts_s": parts} for n in (8, 16)]
    series = {
        "name": "strong linear_regression fused",
        "kind": "strong",
        "case": "linear_regression/method:fused",
        "calls": [{"kind": "all_reduce", "bytes": 80, "count": 2}],
        "parameters": {"stage": {"value": NODE}, "byte": {"value": 1 / 400e9}},
        "points": points,
    }
    file = tmp_path / "predictions.json"
    file.write_text(json.dumps({"series": [series]}))
    return file


def run(tmp_path, *words):
    platform = "bench/cluster/platforms/h200-ndr.toml"
    words = [predictions(tmp_path), "--platform", platform, *words]
    return main(list(map(str, words)))


@needs_simgrid
def test_the_command(step, tmp_path, monkeypatch, pytestconfig):
    monkeypatch.chdir(pytestconfig.rootpath)
    table = tmp_path / "replay.csv"
    trace = tmp_path / "steps.trace"
    words = ("--trace", trace, "--devices", "8,16,512", "--output", table)
    assert run(tmp_path, *words) == 0
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert [row["devices"] for row in rows] == ["8", "16"], (
        "what was not predicted is left out"
    )
    eight, sixteen = (
        [float(row[k]) for k in ("low_s", "seconds", "high_s")] for row in rows
    )
    assert eight == pytest.approx([1e-3 + 8e-6 + 12 * NODE] * 3, rel=1e-3)
    assert sixteen[0] < sixteen[1] < sixteen[2]


def test_refuses_another_trace(step, tmp_path, capsys, monkeypatch, pytestconfig):
    monkeypatch.chdir(pytestconfig.rootpath)
    trace = tmp_path / "steps.trace"
    trace.write_text(TRACE.replace("linear", "logistic"))
    assert run(tmp_path, "--trace", trace) == 2
    assert "no series makes the calls of this trace" in capsys.readouterr().err
