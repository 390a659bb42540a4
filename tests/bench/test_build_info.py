# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A build names its commit, says where its sources are not those of the commit, and has a hash of them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
SCRIPT = BENCH / "build_info.cmake"
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
    """A repository with a source file of each folder, and the file that a build makes of it."""

    def __init__(self, root):
        self.root = root / "project"
        self.root.mkdir(parents=True)
        self.file = root / "build_info.cpp"
        Path(f"{self.file}.in").write_text("<git> <sources>")
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

    def both(self, folder=None, script=SCRIPT):
        """The commit and the hash of the sources, as a build in this folder says them."""
        command = [CMAKE, "-D", f"FILE={self.file}", "-P", script]
        nowhere = os.fspath(self.root.parent)
        subprocess.run(
            command,
            cwd=folder or self.root,
            check=True,
            env={**os.environ, "GIT_CEILING_DIRECTORIES": nowhere},
        )
        return self.file.read_text().split(" ")

    def said(self):
        return self.both()[0]

    def sources(self):
        return self.both()[1]

    def unpack(self, place):
        """git archive of HEAD, unpacked in a new folder."""
        place.mkdir(parents=True)
        self.git("archive", "-o", f"{self.file}.tar", "HEAD")
        subprocess.run(["tar", "-xf", f"{self.file}.tar", "-C", place], check=True)
        return place


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


@pytest.fixture(name="other")
def other_repository(tmp_path):
    """A repository of something else."""
    other = Project(tmp_path / "other")
    other.write("bench/other.cpp")
    other.commit()
    return other


def test_another_repository_around_it_says_nothing(project, other):
    inside = other.root / "vendor/league"
    shutil.copytree(project.root, inside, ignore=shutil.ignore_patterns(".git"))
    assert other.both(inside)[0] == "unknown"
    other.commit()
    assert other.both(inside)[0] == "unknown", "also where it is a part of that one"


def test_a_repository_inside_another_is_itself(project, other):
    inside = other.root / "vendor/league"
    shutil.copytree(project.root, inside)
    assert other.both(inside)[0] == project.said() != other.said()


@pytest.mark.parametrize("is_part", [False, True])
def test_an_archive_inside_another_repository_is_its_own_commit(
    project, other, is_part
):
    for name in ("build_info.cmake", ".gitattributes"):
        shutil.copy(BENCH / name, project.root / "bench" / name)
    project.commit()
    commit, sources = project.both()
    inside = project.unpack(other.root / "vendor/league")
    if is_part:
        other.commit()
    script = inside / "bench/build_info.cmake"
    assert other.both(inside, script) == [commit, sources]
    assert commit == project.git("rev-parse", "--short=12", "HEAD")
    (inside / "backends/a.cpp").write_text("changed")
    assert other.both(inside, script)[1] != sources, "an edited archive"


def test_the_hash_of_the_sources_is_that_of_what_is_compiled(project):
    first = project.sources()
    assert len(first) == 16 and int(first, 16) and project.sources() == first
    project.write("tests/test_new.cpp", "notes.cpp", "bench/results/table.json")
    assert project.sources() == first, "none of these is compiled"
    seen = {first}
    for name in ("backends/a.cpp", "bench/new.cmake", "CMakeLists.txt"):
        (project.root / name).write_text("changed")
        assert project.sources() not in seen, name
        seen.add(project.sources())
    os.rename(project.root / "backends/a.cpp", project.root / "backends/b.cpp")
    assert project.sources() not in seen, "the name of a file counts"
    project.commit()
    committed = project.sources()
    shutil.rmtree(project.root / ".git")
    assert project.sources() == committed, "no commit is needed"


def test_files_of_another_user_are_described(project, monkeypatch):
    """As in a container, where Git refuses the repository."""
    commit = project.said()
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert project.said() == commit


def test_a_hook_of_another_repository_does_not_count(project, other, monkeypatch):
    """Git sets these for the programs that a hook starts."""
    commit = project.said()
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.root / ".git/index"))
    assert project.said() == commit


def test_what_did_not_change_is_not_written_again(project):
    project.said()
    os.utime(project.file, ns=(1, 1))
    project.said()
    assert project.file.stat().st_mtime_ns == 1
