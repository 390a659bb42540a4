# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.cluster.simgrid PREDICTIONS --trace FILE --platform FILE``: predictions, replayed message by message."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.predict.__main__ import counts
from bench.predict.calls import ACTIONS, Trace, read_trace
from bench.predict.platform import Platform, Range, read_platform
from bench.report.fields import Broken
from bench.report.files import write_whole
from bench.report.terminal import complain, show

from .actions import Step, read_step
from .machine import Machine
from .replay import replay

PROGRAM = "bench.cluster.simgrid"
USUAL = (8, 16, 32, 64, 128, 256, 512)
ENDS = ("middle", "low", "high")
COMPUTING = ("fixed", "work", "launch")


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog=f"python3 -m {PROGRAM}", description=__doc__)
    parser.add_argument(
        "predictions", type=Path, help="predictions.json of bench.predict"
    )
    parser.add_argument(
        "--trace",
        type=Path,
        required=True,
        metavar="FILE",
        help="of league run --trace-steps, on two devices or more",
    )
    parser.add_argument("--platform", type=Path, required=True, metavar="FILE")
    parser.add_argument(
        "--series", default="", metavar="TEXT", help="those with this in their names"
    )
    parser.add_argument("--devices", type=counts, default=USUAL, metavar="N,N")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="CSV (default: printed)"
    )
    return parser.parse_args(argv)


def read_predictions(path: Path) -> list[dict[str, Any]]:
    """The series of a file."""
    try:
        series = json.loads(path.read_text(encoding="utf-8"))["series"]
    except OSError as error:
        raise Broken(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise Broken(f"{path}: no predictions: {error}") from error
    return list(series)


def same_calls(series: dict[str, Any], found: Trace) -> bool:
    """Whether the trace is of this algorithm and makes as many calls of each kind."""
    if found.case.split("/")[0] != series["case"].split("/")[0]:
        return False
    wanted = {call["kind"]: call["count"] for call in series["calls"]}
    return {call.kind: call.count for call in found.calls} == wanted


def at(ends: Range, end: str) -> float:
    """The lower end, the upper end or the middle of a range."""
    return {"low": ends.low, "high": ends.high, "middle": ends.middle}[end]


def machine_of(
    platform: Platform, series: dict[str, Any], nodes: int, end: str
) -> Machine:
    """A node as it was fitted; the network at the middle of its ranges, or at its best or worst."""
    stage = series["parameters"]["stage"]["value"]
    byte = series["parameters"]["byte"]["value"]
    other = {"low": "high", "high": "low", "middle": "middle"}[end]
    return Machine(
        nodes,
        platform.devices_per_node,
        stage,
        1 / byte,
        at(platform.network.latency_s, end),
        at(platform.network.bandwidth, other),
    )


def growth(series: dict[str, Any], trace: Trace, devices: int) -> float:
    """Gathered bytes per device over those in the trace."""
    traced = {call.kind: call.bytes / trace.shards for call in trace.calls}
    for call in series["calls"]:
        if call["kind"] == "gather":
            share = 1 if series["kind"] == "weak" else 1 / devices
            return float(call["bytes"] * share / traced["gather"])
    return 1.0


def replays(
    series: dict[str, Any],
    step: Step,
    trace: Trace,
    platform: Platform,
    wanted: Sequence[int],
) -> Iterator[tuple[object, ...]]:
    """Rows of the table for those numbers of devices that were predicted."""
    for point in series["points"]:
        devices = point["devices"]
        if devices not in wanted:
            continue
        parts = point["parts_s"]
        compute = sum(parts.get(name, 0) for name in COMPUTING)
        calls = sum(call["count"] for call in series["calls"])
        call_s = parts.get("call", 0) / max(calls, 1)
        grown = growth(series, trace, devices)
        found = []
        for end in ENDS if point["nodes"] > 1 else ENDS[:1]:
            machine = machine_of(platform, series, point["nodes"], end)
            found.append(replay(step, machine, devices, compute, call_s, grown))
        ends = found if len(found) == len(ENDS) else found * 3
        yield (series["name"], devices, point["nodes"], *(f"{s:.6g}" for s in ends))


def main(argv: Sequence[str]) -> int:
    """Returns the exit code."""
    options = arguments(argv)
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(("series", "devices", "nodes", "seconds", "low_s", "high_s"))
    try:
        platform, step = read_platform(options.platform), read_step(options.trace)
        trace = read_trace(options.trace)
        named = [
            one
            for one in read_predictions(options.predictions)
            if options.series in one["name"] and same_calls(one, trace)
        ]
        if not named:
            kinds = ", ".join(ACTIONS)
            raise Broken(
                f"{options.trace}: no series makes the calls of this trace ({kinds})"
            )
        for one in named:
            for row in replays(one, step, trace, platform, options.devices):
                writer.writerow(row)
        if options.output:
            write_whole(options.output, lines.getvalue())
        else:
            show(lines.getvalue())
    except Broken as error:
        complain(str(error), PROGRAM)
        return 2
    except OSError as error:
        complain(f"cannot write the replays: {error}", PROGRAM)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
