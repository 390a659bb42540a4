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


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_closed_stream_takes_nothing(save, entry, tmp_path, stream):
    folder = save([entry("kokkos", [1e-3] * 8)])
    closed = f"import os, runpy, sys; sys.{stream} = None; sys.argv[1:] = "
    words = [str(folder), "--output", str(tmp_path / "output")]
    code = f"{closed}{words!r}; runpy.run_module('bench.report', run_name='__main__')"
    done = python("-B", "-c", code)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert (tmp_path / "output/table.md").exists()


def test_a_full_disk_behind_the_output_is_told(save, entry, tmp_path):
    """The files are written all the same."""
    folder = save([entry("kokkos", [1e-3] * 8)])
    words = [sys.executable, *WORDS, folder, "--output", tmp_path / "output"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            list(map(str, words)),
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "bench.report: cannot print: No space left on device\n"
    assert (tmp_path / "output/table.md").exists()


def test_a_reader_that_has_enough_is_no_fault_of_the_report(save, entry):
    folder = save([entry("kokkos", [1e-3] * 8)])
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, *WORDS, str(folder)],
        cwd=ROOT,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert done.stderr == "bench.report: cannot print: Broken pipe\n"
