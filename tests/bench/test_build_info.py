# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A build names its commit, and says where its sources are not those of the commit."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "bench" / "build_info.cmake"
BESIDE = shutil.which("cmake", path=Path(sys.executable).parent)
CMAKE = BESIDE or shutil.which("cmake") or ""
SETTINGS = [
    "user.name=a",
    "user.email=a@b",
    "commit.gpgsign=false",
    "core.excludesFile=",
]

pytestmark = pytest.mark.skipif(
    not CMAKE or not shutil.which("git"), reason="needs cmake and git"
)


class Project:
    """A repository with a source file of each folder, and the header that a build makes of it."""

    def __init__(self, root):
        self.root = root / "project"
        self.header = root / "build_info.hpp"
        Path(f"{self.header}.in").write_text("<git>")
        self.write("algorithms/knn/cuda.cu", "backends/a.cpp", "bench/measure/b.hpp")
        self.git("init", "-q")
        self.commit()

    def git(self, *arguments):
        settings = [word for setting in SETTINGS for word in ("-c", setting)]
        return subprocess.run(
            ["git", *settings, *arguments],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def write(self, *names):
        for name in names:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text("// " + name)

    def commit(self):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all")

    def said(self):
        command = [CMAKE, "-D", f"HEADER={self.header}", "-P", SCRIPT]
        nowhere = os.fspath(self.root.parent)
        subprocess.run(
            command,
            cwd=self.root,
            check=True,
            env={**os.environ, "GIT_CEILING_DIRECTORIES": nowhere},
        )
        return self.header.read_text()


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


def test_a_clean_build_is_its_commit(project):
    assert project.said() == project.git("rev-parse", "--short=12", "HEAD")
    project.write("tests/test_new.cpp", "notes.cpp", "bench/results/table.json")
    assert not project.said().endswith("-dirty"), "none of these is compiled"


@pytest.mark.parametrize(
    "name",
    [
        "algorithms/new/new.cpp",
        "algorithms/knn/cuda_new.cu",
        "backends/new/backend.cmake",
        "bench/new.hpp",
        "bench/new/new.cpp",
    ],
)
def test_an_untracked_source_makes_a_build_dirty(project, name):
    project.write(name)
    commit = project.git("rev-parse", "--short=12", "HEAD")
    assert project.said() == commit + "-dirty"


def test_a_build_is_dirty_once_and_until_all_is_committed(project):
    name = "bench/new.cpp"
    project.write(name)
    commit = project.git("rev-parse", "--short=12", "HEAD")
    (project.root / ".git/info/exclude").write_text("new*\n")
    assert project.said() == commit + "-dirty", "ignored files are compiled, too"
    (project.root / "backends/a.cpp").write_text("changed")
    assert project.said() == commit + "-dirty", "said once"
    project.git("add", "-f", name)
    project.commit()
    assert project.said() == project.git("rev-parse", "--short=12", "HEAD")


def test_no_repository_is_unknown(project):
    shutil.rmtree(project.root / ".git")
    assert project.said() == "unknown"
