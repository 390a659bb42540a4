# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Planted effects: the verdicts on synthetic studies whose truth is known."""

import numpy as np
import pytest

from bench.report.gaps import gaps
from bench.report.nulls import nulls

LAUNCHES, SAMPLES = 5, 20
NOISE = 0.004  # of a sample
SHIFT = 0.05  # of a launch: other nodes, other clocks


@pytest.fixture
def planted(entry, all_rows):
    """planted({method: effect}) -> rows: kokkos slower than cuda by each effect."""

    def build(effects, seed=1):
        rng = np.random.default_rng(seed)
        records = []
        for launch in range(LAUNCHES):
            speed = 1e-3 * (1 + SHIFT * rng.standard_normal())

            def samples(slower, speed=speed):
                noise = np.exp(NOISE * rng.standard_normal(SAMPLES))
                return list(speed * slower * noise)

            entries = []
            for method, effect in effects.items():
                cuda = entry("cuda", samples(1), method=method)
                kokkos = entry("kokkos", samples(1 + effect), method=method)
                null = {**cuda, "name": cuda["name"] + "/null:1", "null": True}
                entries += [cuda, kokkos, {**null, "samples": samples(1)}]
            records.append((f"launch {launch}", entries))
        return all_rows(*records)

    return build


def test_verdicts_on_planted_effects(planted):
    effects = {"none": 0.0, "slow": 0.03, "fast": -0.03, "little": 0.005}
    rows = planted(effects)
    verdicts = {r.case.method: r.verdict for r in rows if r.case.model == "kokkos"}
    assert verdicts == {
        "none": "same",
        "slow": "slower",
        "fast": "faster",
        "little": "same",  # within the margin
    }
    assert all(len(row.case.launches) == LAUNCHES for row in rows)


def test_intervals_hold_the_planted_effects(planted):
    effects = {f"m{i}": effect for i, effect in enumerate(np.linspace(-0.04, 0.04, 20))}
    rows = planted(effects, seed=2)
    found = {r.case.method: r.ratio for r in rows if r.case.model == "kokkos"}
    truths = {method: 1 + effect for method, effect in effects.items()}
    held = sum(found[m].low <= truth <= found[m].high for m, truth in truths.items())
    assert held >= 17  # 95 % of 20, less two standard errors
    (gap,) = gaps(rows)
    assert gap.once.case.method == "m0", "the fastest of all"
    assert gap.factors["language"].value == pytest.approx(0.96, rel=0.01)
    for method, truth in truths.items():
        assert found[method].value == pytest.approx(truth, rel=0.01)


def test_null_tests_have_no_false_verdicts(planted):
    rows = planted({f"m{i}": 0.03 for i in range(20)}, seed=3)
    found = nulls(rows)
    assert len(found.tests) == 20 and found.false == []
    assert {test.verdict for test in found.tests} == {"same"}


def test_a_failed_check_enters_no_figure(planted, entry, all_rows):
    good = list(planted({"none": 0.0})[0].case.samples)
    wrong = entry("cuda", good, status="failed", reason="row 7: 3 instead of 4")
    rows = all_rows(("1", [wrong, entry("kokkos", good)]))
    kokkos = next(row for row in rows if row.case.model == "kokkos")
    assert kokkos.ratio is None and "no ratio: cuda failed" in kokkos.note
    assert gaps(rows) == []


def test_a_check_that_fails_in_one_launch_fails_the_case(entry, all_rows):
    good = [1e-3] * 20
    wrong = entry("cuda", good, status="failed", reason="row 7")
    rows = all_rows(
        ("1", [entry("cuda", good), entry("kokkos", good)]),
        ("2", [wrong, entry("kokkos", good)]),
    )
    kokkos = next(row for row in rows if row.case.model == "kokkos")
    assert kokkos.ratio is None and len(kokkos.case.launches) == 2
