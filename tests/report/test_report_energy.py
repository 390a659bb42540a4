# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Energies of records: in rows, tables, page and figure, and their check against power readings."""

import csv
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.report.cells import every_case
from bench.report.energy import lines, off
from bench.report.merge import load
from bench.report.table import to_csv, to_markdown
from bench.report.units import joules
from bench.report.view import ENERGY, groups

ROOT = Path(__file__).resolve().parents[2]
TIMES = [1e-3 + 1e-6 * n for n in range(8)]


def energy(middle, watts=500.0, read=505.0, spread=1e-3):
    """Ten parts around a middle [J]."""
    parts = [middle * (1 + spread * (n - 4.5)) for n in range(10)]
    return {"joules": parts, "power_W": watts, "read_power_W": read, "counter": "NVML"}


def markdown(rows):
    return to_markdown("", groups(rows), [], [])


def test_a_row_has_its_median_and_interval(rows_of, entry):
    (row,) = rows_of([entry("cuda", TIMES, energy=energy(0.5))])
    assert row.energy == pytest.approx(0.5)
    assert 0.4975 < row.energy_low < 0.5 < row.energy_high < 0.5025
    assert "500.0 mJ [498" in markdown([row]) and ENERGY in markdown([row])
    (cell,) = csv.DictReader(io.StringIO(to_csv([row])))
    assert float(cell["energy_J"]) == pytest.approx(0.5)
    assert float(cell["energy_low_J"]) < 0.5 < float(cell["energy_high_J"])
    (line,) = every_case([row])
    assert line.cells[ENERGY].value == pytest.approx(0.5)
    assert line.cells[ENERGY].below.startswith("[498")


def test_none_is_blank_with_the_reason(rows_of, entry):
    why = "RAPL: energy_uj may not be read"
    rows = rows_of(
        [
            entry("cuda", TIMES, energy=energy(0.5)),
            entry("openmp", TIMES, energy={"reason": why}),
        ]
    )
    of = {row.case.model: row for row in rows}
    assert of["openmp"].energy is None
    assert of["openmp"].note == f"no energy: {why}"
    (line,) = [line for line in to_csv(rows).splitlines() if "openmp" in line]
    assert line.endswith(f",,,,{why},,,")


def test_a_study_without_energies_has_no_such_column(rows_of, entry):
    assert ENERGY not in markdown(rows_of([entry("cuda", TIMES)]))


def test_launches_of_the_program_are_put_together(all_rows, entry):
    first = entry("cuda", TIMES, energy=energy(0.5, spread=0))
    second = entry("cuda", TIMES, energy=energy(0.6, spread=0))
    (row,) = all_rows(("1", [first]), ("2", [second]))
    assert row.energy == pytest.approx(0.55)
    assert (row.energy_low, row.energy_high) == pytest.approx((0.5, 0.6))
    assert len(row.case.powers) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"joules": []},
        {"joules": [1, "two"]},
        {"joules": [-1]},
        {"joules": [1], "power_W": "much"},
        {"joules": [1], "power_W": 3, "read_power_W": -3},
        {"joules": 7},
        [],
        7,
    ],
)
def test_a_damaged_energy_is_told(save, entry, wrong):
    cases, problems = load([save([entry("cuda", TIMES, energy=wrong)])])
    assert not cases and "energy" in problems[0]


def test_units_of_energy():
    assert str(joules(0.01234, 0.0123, 0.0124)) == "12.34 mJ [12.30, 12.40]"
    assert str(joules(4.2e-5)) == "42.00 uJ" and str(joules(5000)) == "5.000 kJ"
    assert str(joules(1e-9)) == "0.001 uJ"


def test_the_check_compares_counter_and_power(rows_of, entry, save):
    assert off(515, 500) == pytest.approx(0.03)

    def checked(*pairs):
        made = [
            entry("cuda", TIMES, n=2**20 + n, energy=energy(1, *pair))
            for n, pair in enumerate(pairs)
        ]
        return lines([row.case for row in rows_of(made)])

    assert checked((500, 510), (100, 98))[1]
    found, agree = checked((500, 510), (500, 520))
    assert not agree and [text.endswith("beyond 3 %") for text in found] == [
        False,
        True,
    ]
    assert not checked((500, None))[1], "nothing was compared"


def test_the_check_is_a_command(save, entry):
    folder = save([entry("cuda", TIMES, energy=energy(1, 500, 530))])
    done = subprocess.run(
        [sys.executable, "-m", "bench.report.energy", folder],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and "-5.66 %" in done.stdout


def test_the_figure_shows_time_and_energy(rows_of, entry, tmp_path):
    pytest.importorskip("matplotlib")
    from bench.report.figures import energy as figure
    from bench.report.figures.output import render

    slow = [3 * time for time in TIMES]
    made = [
        entry("cuda", TIMES, energy=energy(0.5), method="mma", unit="f16 tensor"),
        entry("kokkos", slow, energy=energy(0.2), method="fused"),
        entry("cuda", slow, energy=energy(0.9), method="fused"),
        entry("cublas", TIMES, method="gram"),
    ]
    (one,) = figure.figures(rows_of(made), None)
    assert len(one.cases) == 3, "what has no energy is left out"
    assert "Fastest is mma / cuda" in one.caption
    assert "least energy takes fused / kokkos with 200.0 mJ" in one.caption
    drawn = render(one, "energy", tmp_path)
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", drawn)
    assert {"mma / cuda", "fused / kokkos", "200 W", "500 W"} <= set(texts)
    assert not list(figure.figures(rows_of(made[:1]), None)), "one variant alone"
