# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peaks that fit the traffic, the size and the unit; times that no device can reach. By hand."""

import pytest

from bench.report.__main__ import main
from bench.report.bounds import latency_bound
from bench.report.peaks import measured_ceilings
from bench.report.traffic import needed_bytes, on_chip
from tests.conftest import H200

WRITTEN = {"read": 0, "copy": 1 / 2, "add": 1 / 3, "write": 1}
GB = 1e9
FULL = {**H200, "multiprocessors": "132"}


def moving(entry, method, rate, data=GB, **changes):
    """A bandwidth [GB/s] of so many bytes."""
    cost = {"bytes": data, "written_bytes": data * WRITTEN[method], "operations": 0}
    name = f"{method} {data} {changes.get('model', 'cuda')}"
    given = {"algorithm": "ceilings", "method": method, "cost": cost, "name": name}
    return entry(changes.pop("model", "cuda"), [data / rate / GB] * 6, **given)


def case(entry, seconds, share, data=GB, model="cuda", **changes):
    """A case that moves only."""
    cost = {"bytes": data, "written_bytes": data * share, "operations": 0}
    name = changes.pop("name", f"{share} {data} {seconds}")
    given = {"algorithm": "stencil", "cost": cost, "name": name, **changes}
    return entry(model, [seconds] * 6, **given)


def bounds_of(rows):
    """The bound of each case that is no peak [s]."""
    return {
        row.case.name: row.median / row.floor_ratio if row.floor_ratio else None
        for row in rows
        if row.case.algorithm not in ("ceilings", "overheads")
    }


def mixes(entry):
    return [
        moving(entry, "read", 4500),
        moving(entry, "write", 4600),
        moving(entry, "copy", 4000),
        moving(entry, "add", 4300),
    ]


def test_a_bandwidth_fits_the_share_that_is_written(entry, rows_of):
    shares = {0: 4500, 1 / 3: 4300, 1 / 2: 4000, 1: 4600, 0.2: 4500, 0.9: 4600}
    entries = [case(entry, 1e-3, share, name=f"{share}") for share in shares]
    found = bounds_of(rows_of([*mixes(entry), *entries]))
    assert found == pytest.approx({f"{s}": 1 / rate for s, rate in shares.items()})


def test_a_mix_beyond_those_measured_has_no_bound(entry, rows_of):
    rows = rows_of([moving(entry, "copy", 4000), case(entry, 1e-3, 0, name="reads")])
    (row,) = [row for row in rows if row.case.name == "reads"]
    assert (row.floor_ratio, row.note) == (None, "no bandwidth ceiling of this mix")


def test_a_faster_own_kernel_of_the_same_mix_sets_the_peak(entry, rows_of):
    """At most to the best of all mixes and its margin of 2 %; peers set none."""
    for rate, expected in ((4400, 4400), (9000, 1.02 * 4600)):
        add = {"algorithm": "vector_add", "name": "add"}
        for model, peak in (("cuda", expected), ("pytorch", 4300)):
            own = case(entry, 1 / rate, 1 / 3, model=model, **add)
            other = case(entry, 1e-3, 1 / 3, name="other")
            rows = rows_of([*mixes(entry), own, other])
            assert bounds_of(rows)["other"] == pytest.approx(1 / peak), (rate, model)


def test_data_in_the_cache_take_the_bandwidth_of_that_size(entry, rows_of):
    """Caches hold 50 MiB, four of them 210 MB. Without its start of 1 us, 20 MB take 2 us."""
    start = {"algorithm": "overheads", "method": "kernel", "cost": {"bytes": 0}}
    rows = rows_of(
        [
            entry("cuda", [1e-6] * 6, sizes={"teams": 1}, **start),
            moving(entry, "read", 20e6 / 3e-6 / GB, data=20e6),
            moving(entry, "read", 4500),
            case(entry, 1e-3, 0, data=20e6, name="the same"),
            case(entry, 1e-3, 0, data=100e6, name="between"),
            case(entry, 1e-3, 0, data=10e6, name="below"),
            case(entry, 1e-3, 0, data=300e6, name="memory"),
        ]
    )
    assert bounds_of(rows) == pytest.approx(
        {
            "the same": 2e-6,
            "between": 1e-5,  # at the larger peak of both sides
            "below": None,
            "memory": 300e6 / 4500e9,
        }
    )
    notes = {row.case.name: row.note for row in rows}
    assert notes["below"] == "no bandwidth measured at 10 MB" and not notes["between"]


def test_a_unit_that_was_not_measured_takes_a_faster_one(entry, rows_of):
    """A floor still: f16 at the rate of bytes. Other units have no bound."""
    unit = {"algorithm": "ceilings", "method": "tensor", "unit": "u8 tensor"}
    work = {"bytes": 0, "operations": 1e12}
    peak = entry("cuda", [1e-3] * 6, cost=work, dtype="u8", **unit)
    found = bounds_of(
        rows_of(
            [
                peak,
                entry("cuda", [1] * 6, cost=work, unit="f16 tensor", name="f16"),
                entry("cuda", [1] * 6, cost=work, unit="f64 tensor", name="f64"),
            ]
        )
    )
    assert found == {"f16": pytest.approx(1e-3), "f64": None}


def test_products_of_the_method_and_of_the_problem_are_counted(entry, rows_of):
    """Three products of f16 in the method, one half of them needed by the problem."""
    unit = {"algorithm": "ceilings", "method": "tensor", "unit": "f16 tensor"}
    work = {"bytes": 0, "operations": 1e12}
    products = {**work, "method_operations": 6e12, "best_operations": 3e12}
    given = {"unit": "f16 tensor", "best_unit": "f16 tensor", "name": "mma"}
    rows = rows_of(
        [
            entry("cuda", [1e-3] * 6, cost=work, dtype="f16", **unit),
            entry("cuda", [12e-3] * 6, cost=products, **given),
        ]
    )
    row = rows[-1]
    assert (row.floor_ratio, row.best_floor_ratio) == pytest.approx((2, 4))
    assert (row.rate, row.rate_unit) == (pytest.approx(5e5), "GFLOP/s")


def test_exponentials_count_where_their_peak_was_measured(entry, rows_of):
    peaks = {"algorithm": "ceilings", "method": "multiply_add"}
    work = {"bytes": 0, "operations": 1e9, "other_operations": {"exp": 1e9}}
    fma = entry("cuda", [1e-4] * 6, cost={"operations": 1e9, "bytes": 0}, **peaks)
    exp = {**fma, "unit": "exp", "samples": [1e-3] * 6, "name": "exp"}
    solve = entry("cuda", [1] * 6, cost=work, name="softmax")
    assert bounds_of(rows_of([fma, solve])) == {"softmax": pytest.approx(1e-4)}
    assert bounds_of(rows_of([fma, exp, solve])) == {"softmax": pytest.approx(1e-3)}


def test_a_chain_of_multiply_adds_takes_four_cycles_each(entry, rows_of):
    """10,000 at 2 GHz take 20 us; a kernel 1 us to start."""
    start = {"algorithm": "overheads", "method": "kernel", "cost": {"bytes": 0}}
    cost = {"bytes": 1000, "operations": 0, "chain": 10_000}
    clock = {"readings_before": {"sm_clock_MHz": "2000"}, "readings_after": {}}
    idle = {"readings_before": {"sm_clock_MHz": "345"}}
    steps = {"parameters": {"steps": 2000}, "method": "moments"}
    rows = rows_of(
        [
            entry("cuda", [1e-6] * 6, sizes={"teams": 1}, **start, **clock),
            moving(entry, "read", 4500),
            entry("cuda", [1e-4] * 6, cost=cost, **steps, **idle),
        ]
    )
    found = rows[-1]
    assert (found.limit, found.latency_share) == ("latency", pytest.approx(0.2))


def test_only_what_cannot_stay_on_the_device_is_read_in_later_steps(entry, rows_of):
    """50 MiB of cache and 132 x 512 KiB of registers and shared memory."""
    chip = (50 + 66) * 2**20

    def needed(algorithm, data, devices=(FULL,), **parameters):
        cost = {"bytes": data, "operations": 0}
        given = {"algorithm": algorithm, "parameters": parameters, "cost": cost}
        sizes = {"rows": 1, "features": 1, "train": 100}
        made = entry("cuda", [1e-3] * 6, sizes=sizes, **given)
        (row,) = rows_of([made], devices=list(devices))
        return needed_bytes(row.case)

    assert needed("logistic_regression", 1e8, steps=50) == 1e8
    assert needed("logistic_regression", 1e9, steps=50) == 1e9 + 49 * (1e9 - chip)
    assert needed("stencil", 1e9, steps=50) == 1e9, "tiles may take several steps"
    assert needed("logistic_regression", 1e9, [H200], steps=50) == 1e9, "not known"
    batches = {"steps": 50, "batch": 10}
    assert needed("softmax_regression", 1e9, **batches) == 1e9 + 4 * (1e9 - chip)


def test_a_time_below_its_bound_is_no_result(entry, save, capsys):
    """12 MB take 2.9 us at 4.1 TB/s; the library that says 163 ns is FAILED."""
    data = 12e8  # in memory
    entries = [
        *[moving(entry, "add", 4100), moving(entry, "read", 4100)],
        case(entry, 163e-7, 1 / 3, data, "pytorch", name="cheat"),
        case(entry, 0.9 * data / 4100 / GB, 1 / 3, data, "jax", name="close"),
        case(entry, 3e-4, 1 / 3, data, "cuda", name="native"),
        case(entry, 4e-4, 1 / 3, data, "kokkos", name="portable"),
    ]
    folder = save(entries)
    assert main([str(folder), "--json"]) == 1
    captured = capsys.readouterr()
    reason = "takes 16.30 us, less than 0.8 of the 292.7 us that 1.2 GB need at the measured 4.1 TB/s"
    assert f"cheat: FAILED: {reason}" in captured.err
    from bench.report.merge import load
    from bench.report.rows import build_rows

    rows = {row.case.name: row for row in build_rows(load([folder])[0], 0.02)}
    cheat = rows["cheat"]
    assert (cheat.verdict, cheat.reason, cheat.median) == ("FAILED", reason, None)
    assert cheat.case.status == "failed" and not cheat.case.samples
    assert rows["close"].verdict != "FAILED"
    assert rows["close"].note == "faster than the ceilings measured"
    assert rows["portable"].ratio.value == pytest.approx(4 / 3)
    assert main([str(save(entries[:2] + entries[3:], folder="b")), "--quiet"]) == 0


def test_honest_data_in_the_cache_are_not_failed(entry, rows_of):
    """1 MB at ten times the memory's bandwidth, which was not measured at that size."""
    rows = rows_of(
        [
            *mixes(entry),
            case(entry, 1e6 / 45e12, 1 / 3, 1e6, name="cached"),
        ]
    )
    assert {row.case.status for row in rows} == {"passed"}


def test_peaks_of_a_host_are_held_down_by_what_shares_it(entry, rows_of):
    """12 kB in the caches at 1 GB/s: three times as fast may be honest, five times not."""

    rows = rows_of(
        [
            moving(entry, "add", 1, 12e3, model="openmp"),
            case(entry, 4e-6, 1 / 3, 12e3, "openmp", name="thrice"),
            case(entry, 2.4e-6, 1 / 3, 12e3, "openmp", name="five times"),
        ]
    )
    found = {row.case.name: row.case.status for row in rows}
    assert (found["thrice"], found["five times"]) == ("passed", "failed")


def test_peaks_of_a_busy_machine_fail_nothing(entry, rows_of):
    """One of four samples is ten times as fast as the others: so may be a case that runs later."""
    peak = moving(entry, "read", 450)
    peak["samples"] = [peak["samples"][0] / 10, *peak["samples"]]
    rows = rows_of([peak, case(entry, 1 / 4500, 0, name="later")])
    (later,) = [row for row in rows if row.case.name == "later"]
    assert later.median == 1 / 4500
    assert later.note == "faster than the ceilings measured"


def test_the_latency_of_a_step_is_that_of_its_pattern(entry, rows_of):
    """Of one team 0.8 us; of a league's launch 1.0 us, of its barrier 1.4 us."""

    def overhead(method, time, teams):
        sizes = {"teams": teams}
        given = {"algorithm": "overheads", "method": method, "sizes": sizes}
        return entry("cuda", [time] * 6, cost={"bytes": 0}, **given)

    def solve(method, steps, league=132):
        made = case(entry, 1e-3, 0, 1000, method=method, name=f"{method} {steps}")
        made["parameters"] = {"steps": steps}
        made["launch"]["league"] = league
        return made

    entries = [
        overhead("kernel", 0.8e-6, 1),
        overhead("kernel", 1.0e-6, 132),
        overhead("league_barrier", 1.4e-6, 132),
        overhead("team_reduction", 0.3e-6, 1),
    ]
    solves = [solve("fused", 1), solve("fused", 10), solve("persistent", 10)]
    solves += [solve("dual", 10)]
    rows = rows_of([*entries, *solves])
    (ceilings,) = measured_ceilings(row.case for row in rows).values()
    found = {row.case.name: latency_bound(row.case, ceilings) for row in rows}
    assert found["fused 1"] == pytest.approx(0.8e-6)
    assert found["fused 10"] == pytest.approx(10e-6)
    assert found["persistent 10"] == pytest.approx(14e-6)
    assert found["dual 10"] == pytest.approx(3e-6)


def test_what_a_device_can_keep_is_unknown_without_its_processors(rows_of, entry):
    (row,) = rows_of([entry("cuda", [1e-3] * 6)])
    assert on_chip(row.case) == float("inf")
