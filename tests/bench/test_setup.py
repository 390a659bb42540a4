# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/setup --offline takes everything from a folder, in a process that has no network; with empty packages."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETUP = "bench/setup"
EMBEDDED = "backends/kokkos/embedded.cmake"
PINNED = re.findall(r"\b([a-z][\w-]*)==([\d.]+)", (ROOT / SETUP).read_text())
BESIDE = shutil.which("cmake", path=Path(sys.executable).parent)
CMAKE = BESIDE or shutil.which("cmake") or ""
NO_NETWORK = ["unshare", "--map-root-user", "--net"]
PROJECT = f"""
cmake_minimum_required(VERSION 3.25.2)
project(probe LANGUAGES NONE)
include({EMBEDDED})
"""


def can_go_without():
    try:
        return subprocess.run([*NO_NETWORK, "true"], check=False).returncode == 0
    except OSError:
        return False


pytestmark = pytest.mark.skipif(
    not can_go_without(), reason="no process may leave the network here"
)


def wheel(folder, name, version):
    """A package that holds nothing."""
    plain = name.replace("-", "_")
    info = f"{plain}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{plain}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        )
        file.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr(f"{info}/RECORD", "")


@pytest.fixture
def project(tmp_path):
    """What bench/setup needs of the project, and a folder of downloads beside it."""
    root, downloads = tmp_path / "project", tmp_path / "downloads"
    for name in (SETUP, EMBEDDED, "CMakePresets.json"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "CMakeLists.txt").write_text(PROJECT)
    downloads.mkdir()
    for name, version in PINNED:
        wheel(downloads, name, version)
    return root


def run(*words):
    return subprocess.run(
        [*NO_NETWORK, *map(str, words)], check=False, capture_output=True, text=True
    )


def installed(project):
    """The names of the packages in its environment."""
    found = (project / "build/venv").glob("lib/python3*/site-packages/*.dist-info")
    return {path.name.split("-")[0].replace("_", "-") for path in found}


def test_the_process_has_no_network():
    done = run("cat", "/proc/net/dev")
    names = re.findall(r"^\s*(\w+):", done.stdout, re.MULTILINE)
    assert set(names) <= {"lo"}


def test_everything_comes_from_the_folder(project):
    downloads = project.parent / "downloads"
    tests = ["--tests", "--preset", "openmp"]
    done = run(project / SETUP, *tests, "--offline", downloads)
    assert done.returncode == 0, done.stderr
    wanted = {name for name, _ in PINNED} - {"reframe-hpc", "libclang"}
    assert wanted <= installed(project) and len(wanted) > 10
    assert (project / "build/downloads").resolve() == downloads.resolve()
    again = run(project / SETUP, *tests)
    assert again.returncode == 0 and "installing" not in again.stdout


def test_what_only_tests_or_reports_need_can_be_left_out(project):
    (project / "build").mkdir()
    (project / "build/downloads").symlink_to(project.parent / "downloads")
    for options, there, absent in (
        (["--build-only"], {"cmake", "ninja"}, {"numpy", "jax", "pytest"}),
        ([], {"numpy", "matplotlib", "numba", "jax"}, {"pytest", "ruff"}),
    ):
        done = run(project / SETUP, "--preset", "openmp", *options)
        assert done.returncode == 0, done.stderr
        assert there <= installed(project) and not absent & installed(project)


def test_a_package_that_is_not_there_is_named(project):
    downloads = project.parent / "downloads"
    next(downloads.glob("numba-*")).unlink()
    done = run(project / SETUP, "--preset", "openmp", "--offline", downloads)
    assert done.returncode != 0 and "numba==" in done.stderr


def test_a_folder_that_is_not_there_is_named(project):
    done = run(project / SETUP, "--offline", project / "nowhere")
    assert done.returncode == 2 and "nowhere" in done.stderr


@pytest.mark.skipif(not CMAKE, reason="needs cmake")
def test_cmake_takes_kokkos_from_the_folder(project):
    downloads = project.parent / "downloads"
    (downloads / "pygenten-0.1.5.tar.gz").write_text("not the package")
    (project / "build").mkdir()
    (project / "build/downloads").symlink_to(downloads)
    done = run(CMAKE, "-G", "Ninja", "-S", project, "-B", project / "build/x")
    said = " ".join(done.stderr.split())
    assert "build/downloads/pygenten-0.1.5.tar.gz: sha256 is" in said, said
