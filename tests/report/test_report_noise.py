# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the report says of a noisy machine, on planted records, before it gives a verdict."""

import numpy as np
import pytest

from bench.report import __main__ as report
from bench.report.noise import chance, texts
from bench.report.nulls import nulls

SAMPLES = 10


@pytest.fixture
def entries(entry):
    """entries(noise, shift) -> 12 methods of two models; null tests that are off by `shift`."""

    def build(noise, shift=0.0):
        rng = np.random.default_rng(3)

        def samples(slower=1.0):
            return list(1e-3 * slower * np.exp(noise * rng.standard_normal(SAMPLES)))

        found = []
        for number in range(12):
            cuda = entry("cuda", samples(), method=f"m{number}")
            kokkos = entry("kokkos", samples(), method=f"m{number}")
            null = {**cuda, "name": cuda["name"] + "/null:1", "null": True}
            found += [cuda, kokkos, {**null, "samples": samples(1 + shift)}]
        return found

    return build


@pytest.mark.parametrize(
    "noise, shift, said",
    [
        (0.004, 0.0, []),
        (0.08, 0.0, ["NVIDIA H200: half of the ratios are known to +-"]),
        (0.004, 0.05, ["NVIDIA H200: 12 of 12 null tests came out faster or slower"]),
    ],
)
def test_says_what_verdicts_are_worth(rows_of, entries, noise, shift, said):
    rows = rows_of(entries(noise, shift))
    found = texts(rows, nulls(rows), 0.02)
    assert len(found) == len(said)
    for text, part in zip(found, said):
        assert text.startswith("too noisy for verdicts: ") and part in text


def test_is_said_before_the_first_verdict(save, entries, capsys):
    folder = save(entries(0.08))
    assert report.main([str(folder), "--verbose"]) == 0
    page = (folder / "report/index.html").read_text()
    for text in (capsys.readouterr().out, (folder / "table.md").read_text(), page):
        assert 0 < text.find("too noisy for verdicts") < text.find("unresolved")
    assert report.main([str(save(entries(0.004), folder="quiet")), "--quiet"]) == 0
    assert "too noisy" not in (folder.parent / "quiet/table.md").read_text()


def test_some_false_verdicts_are_chance():
    assert chance(0, 20) == pytest.approx(1)
    assert chance(1, 20) == pytest.approx(1 - 0.95**20)
    assert chance(3, 20) > 0.05 and chance(5, 20) < 0.01
