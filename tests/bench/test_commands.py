# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands ``python3 -m`` of the pages: in a folder with a blank in its name and files named as modules, and in a
Python without packages."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *ROOT.glob("bench/*/*.md")]
HIDING = ("csv", "json", "msgspec", "numpy", "random", "re", "statistics", "subprocess")
# What follows each command here; records lie in `a` and, packed by it, in `b`.
COMMANDS = {
    "bench.campaign": "--help",
    "bench.cluster.simgrid": "--help",
    "bench.lines": "--help",
    "bench.needs": "configs/quick.toml",
    "bench.predict": "--help",
    "bench.record.page": "--check",
    "bench.report": "a --quiet",
    "bench.report.energy": "a",
    "bench.report.migrate": "a",
    "bench.report.pack": "b",
    "bench.report.published": "--help",
    "bench.report.shapes_bounds": "--help",
    "bench.report.support": "--help",
    "bench.report.timeline": "a",
}
TRACED = {"timeline": [{"device": 0, "stage": "add", "begin_s": 0.0, "end_s": 1e-3}]}


def documented():
    """The modules that the pages name."""
    found = (
        re.findall(r"python3 -m (bench[\w.]*)", p.read_text("utf-8")) for p in PAGES
    )
    return {module for some in found for module in some}


@pytest.fixture
def project(tmp_path, save, entry):
    """A project in a folder with a blank, with files in it that are named as modules, and records."""
    folder = tmp_path / "two words"
    folder.mkdir()
    for name in ("algorithms", "backends", "bench", "configs"):
        (folder / name).symlink_to(ROOT / name)
    for name in HIDING:
        (folder / f"{name}.py").write_text("raise SystemExit('not this')\n")
    energy = {"joules": [0.5] * 8, "power_W": 500, "read_power_W": 505}
    for name in "ab":
        save([entry("cuda", [1e-3] * 8, energy=energy, **TRACED)], folder=name)
        (folder / name).symlink_to(tmp_path / name)
    return folder


def run(project, module, *options):
    return subprocess.run(
        [sys.executable, *options, "-m", module, *COMMANDS[module].split()],
        cwd=project,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_documented_command_is_here():
    assert documented() == set(COMMANDS)


@pytest.mark.parametrize("module", sorted(COMMANDS))
def test_files_named_as_modules_are_not_imported(project, module):
    done = run(project, module)
    assert done.returncode == 0, done.stderr
    assert "not this" not in done.stdout + done.stderr


@pytest.mark.parametrize("module", sorted(COMMANDS))
def test_without_packages_it_works_or_names_the_package(project, module):
    for name in ("msgspec", "numpy"):
        (project / f"{name}.py").unlink()
    done = run(project, module, "-S")
    assert "Traceback" not in done.stderr and done.returncode in (0, 2), done.stderr
    assert done.returncode == 0 or "lacks the package" in done.stderr
