# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a roofline is the limit, and what is said elsewhere, by hand."""

import pytest

from bench.report.view import groups

STREAM = {"bytes": 8.0 * 2**28, "operations": 0}


def peak(entry):
    """2^31 bytes in 1 ms."""
    return entry("cuda", [1e-3] * 6, algorithm="ceilings", method="copy", cost=STREAM)


def solve(entry, time, steps, bytes_a_step=2e6, **changes):
    """An iteration: 2 MB a step take 0.93 us at the peak."""
    cost = {"bytes": bytes_a_step * steps, "operations": 0}
    parameters = {"seed": 1, "steps": steps}
    return entry("cuda", [time] * 6, cost=cost, parameters=parameters, **changes)


def overhead(entry, time, steps, **changes):
    """Empty steps, as an algorithm of their own measures them."""
    none = {"bytes": 0, "operations": 0}
    given = {"algorithm": "overheads", "cost": none, "parameters": {"steps": steps}}
    return entry("cuda", [time] * 6, **given, **changes)


def cells(rows):
    """What each method's row says of its roofline."""
    lines = (row for group in groups(rows) for row in group.rows)
    return {line["method"]: line["% of roofline"] for line in lines}


def test_many_short_steps_are_latency_bound(entry, rows_of):
    rows = rows_of(
        [
            peak(entry),
            solve(entry, 1e-3, 100, method="short"),
            solve(entry, 1.5e-4, 100, method="near"),  # within twice its bound
            solve(entry, 0.2, 100, 1e9, method="long"),
            solve(entry, 5e-5, 1, 1e6, method="once"),
        ]
    )
    assert cells(rows) == {
        "copy": "100 %",
        "short": "latency-bound",
        "near": "",  # 2 MB stay in the cache
        "long": "23 %",
        "once": "latency-bound",
    }
    ratios = {row.case.method: row.floor_ratio for row in rows}
    assert ratios["short"] == pytest.approx(1e-3 / (2e8 / 2**31 * 1e-3))  # for machines


def test_measured_latencies_give_the_bound(entry, rows_of):
    """The least of 3 us and 2 us a step, the second of a way with a barrier."""
    rows = rows_of(
        [
            peak(entry),
            overhead(entry, 3e-4, 100, method="launch"),
            overhead(entry, 2e-5, 10, method="barrier"),
            solve(entry, 1e-3, 100, method="short"),
            solve(entry, 1e-3, 100, 3e6, method="between"),  # 1.4 us a step
            solve(entry, 0.2, 100, 1e9, method="long"),
        ]
    )
    found = cells(rows)
    assert found["short"] == found["between"] == "latency-bound, 20 %"
    assert found["long"] == "23 %" and found["launch"] == ""
    share = {row.case.method: row.latency_share for row in rows}
    assert share["short"] == pytest.approx(0.2) and share["long"] is None


def test_a_problem_of_another_name_takes_no_steps_that_are_known(entry, rows_of, save):
    """Normal equations have a number of steps as a parameter, and do not use it."""
    from bench.report.floors import in_cache, steps

    rows = rows_of([solve(entry, 1.0, 100)])
    case = rows[0].case
    assert steps(case) == 100 and in_cache(case)  # 2 MB a step, in 50 MiB
    case.comparison += "/problem:normal_equations"
    assert steps(case) == 1 and in_cache(case)
    case.bytes = 2.5e10
    assert not in_cache(case)
    case.comparison = ""
    assert not in_cache(case)  # 250 MB a step


def test_what_the_host_feeds_has_no_roofline(entry, rows_of):
    moved = {"copy in": 1e-3, "add": 1e-4}
    rows = rows_of(
        [
            peak(entry),
            entry("cuda", [0.1] * 6, cost=STREAM, metric="host_time", method="unified"),
            entry("cuda", [0.1] * 6, cost=STREAM, stages=moved, method="streamed"),
            entry("cuda", [0.1] * 6, cost=STREAM, method="resident"),
        ]
    )
    found = cells(rows)
    assert found["unified"] == found["streamed"] == "host link"
    assert found["resident"] == "1 %"


def test_per_cents_are_short_and_never_zero():
    from bench.report.units import per_cent

    shares = (1.02, 0.694, 0.01, 0.000696, 2.3e-6)
    assert list(map(per_cent, shares)) == [
        "102 %",
        "69 %",
        "1 %",
        "0.07 %",
        "0.00023 %",
    ]
