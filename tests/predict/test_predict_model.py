# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model of scaling where the truth is known: parameters, intervals, non-negative least squares."""

import numpy as np
import pytest

from bench.predict import engines, fit
from bench.predict.calls import Call
from bench.predict.engines import Placed
from bench.predict.model import COLUMNS, fitted, row_of
from bench.predict.platform import Links, Platform, Range
from bench.predict.points import Collective, Family, Point

STEPS = Call("all_reduce", 80.0, 20)
MACHINE = Platform(
    "one node of 8",
    8,
    Links(Range(1e-6, 3e-6), Range(300e9, 450e9)),
    Links(Range(2e-6, 12e-6), Range(20e9, 50e9)),
)


class NoCase:
    """What a point says of its record."""

    nodes = 1
    execution = "stream"


def truth(rng):
    """Parameters of a machine, by COLUMNS: microseconds per call, milliseconds of work."""
    found = np.zeros(len(COLUMNS))
    ends = {
        "fixed": (5e-6, 5e-5),
        "work": (1e-3, 1e-2),
        "launch": (1e-6, 1e-5),
        "call": (1e-6, 8e-6),
        "stage": (0.5e-6, 4e-6),
        "byte": (1 / 450e9, 1 / 300e9),
        "network stage": (2e-6, 12e-6),
        "network byte": (1 / 50e9, 1 / 20e9),
    }
    for name, (low, high) in ends.items():
        found[COLUMNS.index(name)] = np.exp(rng.uniform(np.log(low), np.log(high)))
    return found


def true_time(found, engine, devices, work, calls=(STEPS,)):
    nodes = -(-devices // 8)
    place = Placed(devices, nodes)
    return float(found @ row_of(engine, place, min(devices, 8), work, calls))


def family(found, rng, counts, engine="nccl", works=(1.0,), noise=0.01, calls=(STEPS,)):
    """Three launches of ten samples a point; launches differ by ``noise``."""
    points = []
    for devices in counts:
        for work in works:
            time = true_time(found, engine, devices, work, calls)
            launches = tuple(
                tuple(
                    time
                    * (1 + noise * rng.standard_normal())
                    * (1 + noise / 3 * rng.standard_normal(10))
                )
                for _ in range(3)
            )
            sizes = (("n", int(work * 1000)),)
            points.append(Point(devices, 1, work, sizes, calls, launches, NoCase()))
    return Family("made up", engine, points)


def measured_calls(found, counts=(2, 4, 8), engine="nccl"):
    made = []
    for devices in counts:
        for size in (8, 80, 800, 4096):
            row = row_of(
                engine, Placed(devices, 1), 1, 0, (Call("all_reduce", size, 1),)
            )
            place = Placed(devices, 1)
            made.append(
                Collective(engine, "all_reduce", place, size, float(found @ row))
            )
    return made


def test_recovers_what_the_times_determine():
    rng = np.random.default_rng(5)
    true = truth(rng)
    made = family(true, rng, (1, 2, 4), works=(1.0, 4.0, 16.0), noise=0)
    model = fitted(made, made.points, measured_calls(true), MACHINE)
    for name in ("work", "call", "stage"):
        true_value = true[COLUMNS.index(name)]
        assert model.parameters()[name].value == pytest.approx(true_value, rel=0.1), (
            name
        )
    assert model.predict(made.points[0], 8, 1.0).time.value == pytest.approx(
        true_time(true, "nccl", 8, 1.0), rel=0.05
    )


@pytest.mark.parametrize(
    ("counts", "target", "known"),
    [
        ((1, 2), 4, False),
        ((1, 2, 4), 8, False),
        ((1, 2, 4), 8, True),
        ((1, 2), 64, False),
    ],
)
@pytest.mark.parametrize("engine", ["local", "nccl"])
def test_intervals_hold_the_truth(counts, target, known, engine):
    """At least 85 % of 40 machines: below that the chance of a 95 % interval is 1 in 70."""
    inside, runs = 0, 40
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        true = truth(rng)
        made = family(true, rng, counts, engine)
        calls = measured_calls(true, engine=engine) if known else []
        model = fitted(made, made.points, calls, MACHINE)
        time = model.predict(made.points[0], target, 1.0).time
        again = true_time(true, engine, target, 1.0) * (
            1 + 0.01 * rng.standard_normal()
        )
        inside += time.low <= again <= time.high
    assert inside >= 0.85 * runs


def test_more_measured_means_narrower():
    rng = np.random.default_rng(11)
    true = truth(rng)
    widths = []
    for counts, calls in (
        ((1, 2), []),
        ((1, 2, 4), []),
        ((1, 2, 4), measured_calls(true)),
    ):
        made = family(true, np.random.default_rng(1), counts)
        time = (
            fitted(made, made.points, calls, MACHINE)
            .predict(made.points[0], 8, 1.0)
            .time
        )
        widths.append((time.high - time.low) / time.value)
    assert widths[0] > 1.5 * widths[1]
    assert widths[1] > 1.1 * widths[2]


def test_weak_scaling_without_calls_stays():
    rng = np.random.default_rng(3)
    true = truth(rng)
    true[COLUMNS.index("launch")] = 0
    made = family(true, rng, (1, 2, 4), calls=(), noise=0.001)
    model = fitted(made, made.points, [], MACHINE)
    time = model.predict(made.points[0], 1024, 1024.0).time
    assert time.value == pytest.approx(true_time(true, "nccl", 1, 1.0, ()), rel=0.05)


def test_non_negative_least_squares_by_brute_force():
    """Against projected gradient descent."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        half = rng.standard_normal((5, 4))
        matrix, right = half.T @ half + 0.1 * np.eye(4), rng.standard_normal((1, 4))
        slow = np.zeros(4)
        step = 1 / np.linalg.eigvalsh(matrix).max()
        for _ in range(5000):
            slow = np.maximum(slow - step * (matrix @ slow - right[0]), 0)
        assert fit.non_negative(matrix, right)[0] == pytest.approx(slow, abs=1e-6)


def test_stages_and_bytes_of_the_engines():
    assert engines.stages("flat", "all_reduce", 8) == 7
    assert engines.stages("tree", "all_reduce", 8) == 6
    assert engines.stages("tree", "broadcast", 5) == 3
    assert engines.stages("tree", "exchange", 100) == 1
    assert engines.stages("tree", "all_reduce", 1) == 0
    assert engines.volume("flat", "all_reduce", 4) == 3
    assert engines.volume("ring", "all_reduce", 4) == pytest.approx(1.5)
    assert engines.volume("ring", "all_gather", 4) == pytest.approx(0.75)
    assert engines.volume("ring", "exchange", 2) == 1
    # two nodes of eight: trees between them, an eighth of the values through each port
    one = engines.columns("nccl", "all_reduce", 800, Placed(16, 2))
    assert one == pytest.approx([1, 6, 1400, 2, 100])
    assert engines.columns("nccl", "all_reduce", 800, Placed(1, 1)) == [0] * 5
