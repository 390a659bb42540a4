# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a roofline is the limit, and what is said elsewhere, by hand."""

import pytest

from bench.report.migrate.costs import recount
from bench.report.view import groups

STREAM = {"bytes": 8.0 * 2**28, "operations": 0}


def peak(entry):
    """2^31 bytes in 1 ms."""
    return entry("cuda", [1e-3] * 6, algorithm="ceilings", method="copy", cost=STREAM)


def solve(entry, time, steps, bytes_per_step=2e6, **changes):
    """An iteration: 2 MB a step take 0.93 us at the peak."""
    cost = {"bytes": bytes_per_step, "method_bytes": bytes_per_step * steps}
    parameters = {"seed": 1, "steps": steps}
    return entry("cuda", [time] * 6, cost=cost, parameters=parameters, **changes)


def overhead(entry, method, time, teams=1, model="cuda"):
    """What a launch, a barrier or a reduction takes by itself."""
    none = {"bytes": 0, "method_bytes": 0, "operations": 0}
    given = {"algorithm": "overheads", "cost": none, "sizes": {"teams": teams}}
    return entry(model, [time] * 6, method=method, **given)


def descent(
    entry,
    time,
    method,
    points=50_000,
    steps=200,
    algorithm="linear_regression",
    league=10,
    **changes,
):
    """A descent over points of 8 bytes, whose problem needs one pass."""
    once = 8 * points
    passes = 1 if method.startswith(("persistent", "moments")) else steps
    cost = {"bytes": once, "method_bytes": once * passes, "operations": 0}
    changes.setdefault("cost", cost)
    made = entry(
        "cuda",
        [time] * 6,
        algorithm=algorithm,
        method=method,
        sizes={"points": points},
        parameters={"seed": 1, "steps": steps},
        **changes,
    )
    made["launch"]["league"] = league
    return made


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
        "long": "23 % (0.23 %)",  # of one pass
        "once": "latency-bound",
    }
    ratios = {row.case.method: row.floor_ratio for row in rows}
    assert ratios["short"] is None  # no bandwidth was measured at 2 MB
    assert ratios["long"] == pytest.approx(0.2 / (1e11 / 2**31 * 1e-3))  # for machines


def test_measured_latencies_give_the_bound(entry, rows_of):
    """The minimum of 3 us and 2 us per step, the second of a way with a barrier."""
    rows = rows_of(
        [
            peak(entry),
            overhead(entry, "launch", 3e-6),
            overhead(entry, "league_barrier", 2e-6, teams=132),
            solve(entry, 1e-3, 100, method="short"),
            solve(entry, 1e-3, 100, 3e6, method="between"),  # 1.4 us per step
            solve(entry, 0.2, 100, 1e9, method="long"),
        ]
    )
    found = cells(rows)
    assert found["short"] == found["between"] == "latency-bound, 20 %"
    assert found["long"] == "23 % (0.23 %)" and found["launch"] == ""
    share = {row.case.method: row.latency_share for row in rows}
    assert share["short"] == pytest.approx(0.2) and share["long"] is None


def test_only_launches_and_barriers_of_several_teams_start_a_step(entry, rows_of):
    rows = rows_of(
        [
            peak(entry),
            overhead(entry, "kernel", 2e-6),
            overhead(entry, "league_barrier", 3e-6, teams=2),
            overhead(entry, "league_barrier", 1e-7),  # of one team
            overhead(entry, "team_reduction", 1e-7),
            overhead(entry, "subgroup_reduction", 1e-8),
            overhead(entry, "allocation", 1e-6),
            overhead(entry, "fence", 1e-6),
            overhead(entry, "launch", 1e-6, model="openmp"),  # another device
            solve(entry, 1e-3, 100, method="short"),
        ]
    )
    assert cells(rows)["short"] == "latency-bound, 20 %"


def test_a_descent_waits_for_what_its_method_waits_for(entry, rows_of):
    """Steps x 2 us; of one team, steps x 0.2 us; on moments, 2 us."""
    rows = rows_of(
        [
            peak(entry),
            overhead(entry, "kernel", 2e-6),
            overhead(entry, "league_barrier", 2e-6, teams=10),
            overhead(entry, "league_barrier", 3e-6, teams=132),
            overhead(entry, "team_reduction", 2e-7),
            descent(entry, 8e-4, "block_reduce"),
            descent(entry, 5e-4, "persistent"),
            descent(entry, 4e-4, "persistent", 40_000, league=2, name="few teams"),
            descent(entry, 1e-4, "persistent", 5_000, league=1, name="one team"),
            descent(entry, 1e-4, "persistent_cluster", league=16, name="cluster"),
            descent(entry, 1e-5, "moments"),
        ]
    )
    solves = [row for row in rows if row.case.algorithm == "linear_regression"]
    assert {row.limit for row in solves} == {"latency"}
    shares = {(r.case.method, r.case.sizes["points"]): r.latency_share for r in solves}
    assert shares == pytest.approx(
        {
            ("block_reduce", 50_000): 0.5,
            ("persistent", 50_000): 0.8,
            ("persistent", 40_000): 0.1,  # no barrier of so few teams was measured
            ("persistent", 5_000): 0.4,
            ("persistent_cluster", 50_000): 0.4,
            ("moments", 50_000): 0.2,
        }
    )


def test_a_descent_that_moves_more_than_one_pass_is_not_bound_by_latency(
    entry, rows_of
):
    """400 MB: 0.19 ms once, 37 ms in 200 steps, which take 0.4 ms to start."""
    rows = rows_of(
        [
            peak(entry),
            overhead(entry, "kernel", 2e-6),
            descent(entry, 0.05, "fused", 50_000_000),
            descent(entry, 3e-4, "moments", 50_000_000),
        ]
    )
    row = {row.case.method: row for row in rows}
    assert row["fused"].limit == row["moments"].limit == "roofline"
    assert row["fused"].rate == pytest.approx(1600)
    assert row["moments"].rate == pytest.approx(4e8 / 3e-4 * 1e-9)
    once = 4e8 / 2**31 * 1e-3
    assert row["fused"].floor_ratio == pytest.approx(0.05 / (200 * once))
    assert row["fused"].best_floor_ratio == pytest.approx(0.05 / once)


@pytest.mark.parametrize("algorithm", ["linear_regression", "polynomial_fit"])
def test_records_of_before_count_the_bytes_of_all_steps(entry, rows_of, algorithm):
    """4 MB are in the cache of 50 MiB, whichever way they are counted; 400 MB are not."""
    from bench.report.traffic import data_bytes, in_cache

    def both(points):
        old = {"bytes": 8 * points * 200, "operations": 0}
        given = {"points": points, "algorithm": algorithm}
        entries = [
            descent(entry, 0.05, "fused", name="new", **given),
            descent(entry, 0.05, "fused", name="old", cost=old, **given),
            descent(entry, 0.05, "moments", name="moments", **given),
        ]
        del entries[1]["cost"]["written_bytes"]
        entries[1] = recount(entries[1], algorithm)
        return {row.case.name: row for row in rows_of(entries)}

    for points, cached in ((500_000, True), (50_000_000, False)):
        rows = both(points)
        assert {data_bytes(row.case) for row in rows.values()} == {8 * points}
        assert {in_cache(row.case) for row in rows.values()} == {cached}
        assert rows["old"].rate == rows["new"].rate == pytest.approx(points * 3.2e-5)
        assert rows["moments"].rate == pytest.approx(points * 1.6e-7)


def test_costs_of_all_solves_count_their_data_once(entry, rows_of):
    """Rows of 2 numbers and a label: 9 bytes each."""
    from bench.report.traffic import in_cache

    def case(name, rows, **counts):
        made = descent(
            entry,
            0.05,
            "fused",
            algorithm="logistic_regression",
            cost={"operations": 0, **counts},
            name=name,
        )
        made["sizes"] = {"rows": rows, "features": 2}
        return made

    def old(name, rows):
        steps = 9 * rows * 200
        made = case(name, rows, bytes=steps, method_bytes=steps)
        del made["cost"]["written_bytes"]
        return recount(made, "logistic_regression")

    new = [
        case(f"new {rows}", rows, bytes=9 * rows, method_bytes=9 * rows * 200)
        for rows in (500_000, 50_000_000)
    ]
    rows = rows_of([*new, old("old 500000", 500_000), old("old 50000000", 50_000_000)])
    found = {row.case.name: row.case for row in rows}
    for rows, cached in ((500_000, True), (50_000_000, False)):
        for case in (found[f"new {rows}"], found[f"old {rows}"]):
            assert (case.bytes, case.method_bytes) == (9 * rows, 9 * rows * 200)
            assert in_cache(case) == cached


def test_a_problem_that_is_solved_at_once_takes_one_step(entry, rows_of, save):
    """Normal equations have a number of steps as a parameter, and do not use it."""
    from bench.report.traffic import in_cache, steps

    rows = rows_of([solve(entry, 1.0, 100)])
    case = rows[0].case
    assert steps(case) == 100 and in_cache(case)  # 2 MB, in 50 MiB
    case.comparison += "/problem:normal_equations"
    assert steps(case) == 1 and in_cache(case)
    case.bytes = 2.5e8
    assert not in_cache(case)


def test_a_solve_that_stops_early_takes_the_steps_that_its_check_counted(
    entry, rows_of
):
    from bench.report.traffic import steps

    case = rows_of([solve(entry, 1.0, 100)])[0].case
    case.comparison += "/problem:newton"
    assert steps(case) == 100
    case.figures["steps"] = 7.0
    assert steps(case) == 7


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
