# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.predict``: what it writes, and what it refuses."""

import csv
import hashlib
import json

import pytest

from bench.predict.__main__ import main

PLATFORM = "bench/cluster/platforms/h200-ndr.toml"
STEADY = [1 + 0.001 * i for i in range(-5, 6)]
STEPS, CALL_S = 20, 4e-6


def solve(entry, devices, points=10**8, model="cuda", **changes):
    """A solve of 1 ms / 10^8 points per step, a sum of 4 us per stage."""
    stages = 2 * (devices - 1).bit_length()
    time = STEPS * (1e-3 * points / 1e8 / devices + CALL_S * stages) + 1e-5
    changes = {
        "algorithm": "linear_regression",
        "method": "fused",
        "sizes": {"points": points, "features": 1},
        "parameters": {"seed": 1, "steps": STEPS},
        "cost": {"bytes": 8 * points * STEPS, "operations": 8 * points * STEPS},
        "devices": devices,
        "metric": "device_time" if devices == 1 else "makespan",
        "latency_s": time,
        **({"communicator": "nccl"} if devices > 1 else {}),
        **changes,
    }
    return entry(model, [time * factor for factor in STEADY], **changes)


@pytest.fixture
def folder(entry, save):
    """Records of one to eight devices, a file each."""
    for devices in (1, 2, 4, 8):
        found = save([solve(entry, devices)], file=f"{devices}.json")
    return found


def run(tmp_path, *words):
    output = tmp_path / "out"
    words = [*words, "--platform", PLATFORM, "--output", output, "--no-figures"]
    return main(list(map(str, words))), output


@pytest.fixture(autouse=True)
def from_the_root(monkeypatch, pytestconfig):
    monkeypatch.chdir(pytestconfig.rootpath)


def test_predicts_and_checks(folder, tmp_path, capsys):
    code, output = run(tmp_path, folder, "--fit", "1,2,4", "--check", 8)
    assert code == 0
    said = capsys.readouterr().out
    assert "8 devices: 1 of 1 inside their intervals" in said
    with (output / "predictions.csv").open() as file:
        rows = {(r["kind"], int(r["devices"])): r for r in csv.DictReader(file)}
    assert {devices for _, devices in rows} == {2**power for power in range(11)}
    eight = rows["strong", 8]
    low, high = float(eight["low_s"]), float(eight["high_s"])
    assert low < float(eight["measured_s"]) < high
    assert (rows["strong", 4]["fitted"], eight["fitted"]) == ("1", "0")
    assert rows["strong", 1024]["nodes"] == "128"
    assert rows["strong", 1024]["measured_s"] == ""


def test_names_and_hashes_its_inputs(folder, tmp_path):
    code, output = run(tmp_path, folder, "--fit", "1,2")
    assert code == 0
    whole = json.loads((output / "predictions.json").read_text())
    first = folder / "records" / "1.json"
    hashes = {one["file"]: one["sha256"] for one in whole["inputs"]}
    assert hashes[str(first)] == hashlib.sha256(first.read_bytes()).hexdigest()
    assert len(hashes) == 5, "four records and the platform"
    (strong, _) = whole["series"]
    assert strong["calls"] == [{"kind": "all_reduce", "bytes": 24.0, "count": STEPS}]
    four = next(p for p in strong["points"] if p["devices"] == 4)
    assert sum(four["parts_s"].values()) == pytest.approx(
        four["time_s"]["value"], rel=0.05
    )
    assert any("contention" in text for text in whole["cannot_tell"])


def eight(tmp_path, *words):
    """The strong prediction for eight devices, from one and two."""
    code, output = run(tmp_path, *words, "--fit", "1,2", "--devices", "8")
    assert code == 0
    strong, _ = json.loads((output / "predictions.json").read_text())["series"]
    return strong["points"][0]["time_s"]


def test_measured_collectives_narrow_a_prediction(tmp_path, entry, save):
    folder = save([solve(entry, n, points=10**6) for n in (1, 2)])
    wide = eight(tmp_path, folder)
    times = {n: CALL_S * 2 * (n - 1).bit_length() for n in (2, 4, 8)}
    usual = {"algorithm": "collectives", "method": "all_reduce", "metric": "makespan"}
    usual |= {"communicator": "nccl", "sizes": {"bytes": 32}}
    calls = [entry("cuda", [t] * 7, devices=n, **usual) for n, t in times.items()]
    narrow = eight(tmp_path, folder, save(calls, folder="collectives"))
    assert narrow["high"] - narrow["low"] < 0.7 * (wide["high"] - wide["low"])
    table = tmp_path / "calls.csv"
    lines = [f"nccl,all_reduce,{n},1,32,{t}" for n, t in times.items()]
    head = "engine,kind,devices,nodes,bytes,seconds"
    table.write_text("\n".join([head, *lines]) + "\n")
    again = eight(tmp_path, folder, "--collectives", table)
    assert again["value"] == pytest.approx(narrow["value"], rel=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "takes the columns engine,kind,devices,nodes,bytes,seconds"),
        (
            "engine,kind,devices,nodes,bytes,seconds\nnccl,all_reduce,two,1,8,1\n",
            "row 1: invalid",
        ),
        (
            "engine,kind,devices,nodes,bytes,seconds\nnccl,sum,2,1,8,1\n",
            "'sum' is none of",
        ),
        (
            "engine,kind,devices,nodes,bytes,seconds\nnccl,all_reduce,1,1,8,1\n",
            "takes two devices",
        ),
        (
            "engine,kind,devices,nodes,bytes,seconds\nnccl,all_reduce,2,1,8,0\n",
            "and a time",
        ),
    ],
)
def test_refuses_a_table(folder, tmp_path, capsys, text, message):
    table = tmp_path / "calls.csv"
    table.write_text(text)
    code, _ = run(tmp_path, folder, "--collectives", table)
    assert code == 2
    assert message in capsys.readouterr().err


def test_refuses_too_little(folder, tmp_path, capsys, entry, save):
    code, _ = run(tmp_path, folder, "--fit", "1")
    assert code == 2
    assert (
        "points of 1 device only, and no measured collectives"
        in capsys.readouterr().err
    )
    code, _ = run(tmp_path, folder, "--fit", "16")
    assert code == 2
    assert "no point is left to fit" in capsys.readouterr().err
    alone = save([solve(entry, 1)], folder="alone")
    code, _ = run(tmp_path, alone)
    assert code == 2
    assert "measured on one device and on several" in capsys.readouterr().err
    code, _ = run(tmp_path, folder, "--check", 16)
    assert code == 2
    assert "nothing was measured there" in capsys.readouterr().err


def test_refuses_host_devices_of_one_process(tmp_path, capsys, entry, save):
    """They run in turn: what they take is no scaling."""
    rows = [solve(entry, n, model="openmp", metric="makespan") for n in (1, 2, 4)]
    found = save(rows)
    code, _ = run(tmp_path, found)
    assert code == 2
    assert "run in turn and never count; start ranks" in capsys.readouterr().err
    rows = [
        solve(entry, n, model="openmp", metric="makespan", ranks=n) for n in (1, 2, 4)
    ]
    code, _ = run(tmp_path, save(rows, folder="ranks"))
    assert code == 0, "ranks run at the same time"


def test_refuses_mixed_machines(folder, tmp_path, capsys, entry, save):
    other = {"kind": "gpu", "index": 0, "name": "NVIDIA A100", "llc_bytes": 0}
    rows = [solve(entry, n, device_name="NVIDIA A100") for n in (1, 2)]
    second = save(rows, folder="b", devices=[other])
    code, _ = run(tmp_path, folder, second)
    assert code == 2
    assert "several machines (NVIDIA A100; NVIDIA H200)" in capsys.readouterr().err
    code, _ = run(tmp_path, folder, second, "--device", "A100")
    assert code == 0
    calls = entry(
        "cuda",
        [1e-5] * 7,
        algorithm="collectives",
        method="all_reduce",
        devices=2,
        sizes={"bytes": 8},
        device_name="NVIDIA A100",
        metric="makespan",
    )
    third = save([calls], folder="c", devices=[other])
    code, _ = run(tmp_path, folder, third)
    assert code == 2
    assert "collectives of NVIDIA A100, times of NVIDIA H200" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("devices_per_node = 0\n", "`devices_per_node` takes a whole number"),
        ("devices_per_node = 8\n", "has no table [node]"),
        (
            "devices_per_node = 8\n[node]\nlatency_us = [2, 1]\nbandwidth_GBps = [1, 2]\n",
            "`node.latency_us` takes [low, high]",
        ),
        ("nonsense", "platform.toml: "),
    ],
)
def test_refuses_a_platform(folder, tmp_path, capsys, text, message):
    platform = tmp_path / "platform.toml"
    platform.write_text(text)
    assert main([str(folder), "--platform", str(platform)]) == 2
    assert message in capsys.readouterr().err


def test_needs_a_trace_of_what_it_does_not_know(tmp_path, capsys, entry, save):
    rows = [solve(entry, n, algorithm="cnn", parameters={"seed": 1}) for n in (1, 2)]
    found = save(rows)
    code, _ = run(tmp_path, found)
    assert code == 2
    assert "known from a trace only: give --trace FILE" in capsys.readouterr().err
    trace = tmp_path / "steps.trace"
    lines = [
        f"{r} {a}" for r in (0, 1) for a in ("init", "compute 9", "allreduce 4096 0 6")
    ]
    trace.write_text(f"# case {rows[1]['name']}\n" + "\n".join(lines) + "\n")
    code, output = run(tmp_path, found, "--trace", trace)
    assert code == 0
    (series, _) = json.loads((output / "predictions.json").read_text())["series"]
    assert series["calls"] == [{"kind": "all_reduce", "bytes": 4096.0, "count": 1}]


def test_draws(folder, tmp_path):
    pytest.importorskip("matplotlib")
    name = (
        "strong linear_regression fused / cuda, f32, nccl, features=1 points=100000000"
    )
    replay = tmp_path / "replay.csv"
    replay.write_text(
        "series,devices,nodes,seconds,low_s,high_s\n"
        + f'"{name}",16,2,0.01,0.009,0.02\n'
    )
    words = [folder, "--platform", PLATFORM, "--output", tmp_path, "--replay", replay]
    assert main(list(map(str, words))) == 0
    drawn = sorted((tmp_path / "figures").glob("*.svg"))
    assert [path.name.split("-")[0] for path in drawn] == ["strong", "weak"]
    text = drawn[0].read_text()
    assert "efficiency" in text
    assert "SimGrid" in text
    assert "SimGrid" not in drawn[1].read_text(), "nothing of it was replayed"
