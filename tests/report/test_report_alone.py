# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report in an environment that is not its own: without packages, with somebody's Matplotlib."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORDS = ("-B", "-m", "bench.report")


def python(*words, options=(), **variables):
    return subprocess.run(
        list(map(str, [sys.executable, *options, *words])),
        cwd=ROOT,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("command", [(), ("compare",)])
def test_help_takes_the_standard_library_alone(command):
    done = python(*WORDS, *command, "--help", options=["-S"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("usage: ") and "%%" not in done.stdout


def test_a_missing_package_is_named(save, entry):
    folder = save([entry("kokkos", [1e-3] * 8)])
    done = python(*WORDS, folder, options=["-S"])
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "lacks the package" in done.stderr and "pip install" in done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MPLBACKEND", "module://matplotlib_inline.backend_inline"),
        ("MATPLOTLIBRC", "text.usetex: True\nsavefig.dpi: 7\nfont.size: 99\n"),
    ],
)
def test_figures_are_the_same_with_any_settings_of_matplotlib(
    save, entry, tmp_path, name, value
):
    pytest.importorskip("matplotlib")
    folder = save([entry("kokkos", [1e-3] * 8), entry("cuda", [2e-3] * 8)])
    if name == "MATPLOTLIBRC":
        (tmp_path / "matplotlibrc").write_text(value)
        value = str(tmp_path)
    drawn = {}
    for output, variables in (("plain", {}), ("other", {name: value})):
        done = python(*WORDS, folder, "--output", tmp_path / output, **variables)
        assert done.returncode == 0, done.stderr
        figures = (tmp_path / output).glob("report/figures/*.svg")
        drawn[output] = {f.name: f.read_bytes() for f in figures}
    assert drawn["plain"] and drawn["plain"] == drawn["other"]
