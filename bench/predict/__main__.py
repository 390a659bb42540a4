# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.predict DIR --platform FILE``: scaling beyond the devices that were measured."""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.report.case import Case
from bench.report.fields import Broken
from bench.report.figures.output import available, render
from bench.report.files import write_whole
from bench.report.merge import load
from bench.report.options import folder
from bench.report.sources import record_files
from bench.report.statistics import Estimate
from bench.report.terminal import complain, show

from . import figure, output, points
from .calls import read_trace
from .model import Model, fitted
from .platform import read_platform
from .series import Series, series_of

USUAL = tuple(2**power for power in range(11))  # to 1,024 devices
PROGRAM = "bench.predict"
EPILOG = """Fits the time of a compute from DIR/records/*.json (one device and several)
and predicts strong and weak scaling; writes predictions.csv, predictions.json and
figures/ into --output. See bench/cluster/prediction.md for the model and what it cannot
tell. Exit codes: 0; 1 when a record was left out or a prediction of --check lies outside
of its interval more often than its confidence allows; 2 for bad input."""


def counts(text: str) -> tuple[int, ...]:
    """``1,2,4``: numbers of devices, each from 1 on, in order."""
    found = sorted({int(word) for word in text.split(",")})
    if not found or found[0] < 1:
        raise argparse.ArgumentTypeError(f"'{text}' takes numbers from 1 on, as 1,2,4")
    return tuple(found)


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python3 -m bench.predict", description=__doc__, epilog=EPILOG
    )
    parser.add_argument("folders", nargs="+", type=folder, metavar="DIR")
    parser.add_argument("--platform", type=Path, required=True, metavar="FILE")
    parser.add_argument(
        "--fit",
        type=counts,
        metavar="N,N",
        help="of what is there, only these numbers of devices",
    )
    parser.add_argument("--devices", type=counts, default=USUAL, metavar="N,N")
    parser.add_argument(
        "--device", help="of several machines, the name of one's devices"
    )
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="variants with this in their names"
    )
    parser.add_argument(
        "--collectives",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="measured collectives as CSV, beside those of the records",
    )
    parser.add_argument(
        "--trace",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="of league run --trace-steps: what a case exchanges",
    )
    parser.add_argument(
        "--check",
        type=int,
        metavar="N",
        help="hold the predictions for N devices against what was measured",
    )
    parser.add_argument(
        "--replay",
        type=Path,
        metavar="FILE",
        help="of python3 -m bench.cluster.simgrid: drawn as crosses",
    )
    parser.add_argument(
        "--output", type=Path, default=Path("predictions"), metavar="DIR"
    )
    parser.add_argument("--no-figures", action="store_true")
    return parser.parse_args(argv)


def predict(
    options: argparse.Namespace, cases: list[Case]
) -> list[tuple[Model, Series]]:
    """All series. Raises Broken where there is nothing to fit."""
    platform = read_platform(options.platform)
    traces = [read_trace(path) for path in options.trace]
    if options.device:
        cases = [case for case in cases if options.device in case.device_name]
    found = [f for f in points.families(cases, traces) if options.only in f.label]
    device = points.device_of(found)
    measured = points.collectives(cases)
    for path in options.collectives:
        measured += points.read_table(path)
    if others := {m.device for m in measured} - {"", device}:
        raise Broken(f"collectives of {', '.join(sorted(others))}, times of {device}")
    series = []
    wanted = tuple(sorted({*options.devices, *([options.check] * bool(options.check))}))
    for family in found:
        used = [p for p in family.points if not options.fit or p.devices in options.fit]
        model = fitted(family, used, measured, platform)
        series += [(model, one) for one in series_of(model, used, wanted)]
    return series


def read_replays(path: Path | None) -> figure.Replays:
    """What SimGrid said, by series and number of devices."""
    if path is None:
        return {}
    columns = ("seconds", "low_s", "high_s")
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {
                (row["series"], int(row["devices"])): Estimate(
                    *(float(row[name]) for name in columns)
                )
                for row in csv.DictReader(file)
            }
    except OSError as error:
        raise Broken(f"{path}: cannot be read: {error.strerror}") from error
    except (KeyError, TypeError, ValueError) as error:
        raise Broken(f"{path}: no replay: {error}") from error


def asked(options: argparse.Namespace) -> dict[str, Any]:
    """The command line, for the record."""
    kept = ("platform", "fit", "devices", "device", "only", "check")
    return {
        key: str(v) if isinstance(v := getattr(options, key), Path) else v
        for key in kept
    }


def write(options: argparse.Namespace, found: list[tuple[Model, Series]]) -> None:
    """The files of --output."""
    series = [one for _, one in found]
    given = [options.platform, *options.collectives, *options.trace]
    read = [one.path for folder in options.folders for one in record_files(folder)]
    inputs = [*dict.fromkeys(read), *given]
    folder = options.output
    write_whole(folder / "predictions.csv", output.to_csv(series))
    write_whole(
        folder / "predictions.json", output.to_json(found, inputs, asked(options))
    )
    if options.no_figures or not available():
        return
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for drawn in figure.figures(series, read_replays(options.replay)):
        render(drawn, drawn.slug, folder / "figures")


def check(series: Sequence[Series], devices: int) -> bool:
    """Prints predictions beside measurements; whether at least nine in ten lie inside."""
    lines = output.verdicts(series, devices)
    if not lines:
        raise Broken(
            f"--check {devices}: nothing was measured there that was not fitted"
        )
    show("\n".join(lines) + "\n")
    outside = sum(line.startswith("OUTSIDE") for line in lines)
    return outside <= max(1, (len(lines) - 1) // 10) and outside < len(lines) - 1


def main(argv: Sequence[str]) -> int:
    """Returns the exit code."""
    options = arguments(argv)
    cases, problems = load(options.folders)
    for problem in problems:
        complain(problem, PROGRAM)
    try:
        found = predict(options, cases)
        write(options, found)
        passed = not options.check or check([one for _, one in found], options.check)
    except Broken as error:
        complain(str(error), PROGRAM)
        return 2
    except OSError as error:
        complain(f"cannot write the predictions: {error}", PROGRAM)
        return 1
    return 0 if passed and not problems else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
