# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The recipes for Spack and Apptainer name files, presets and options that there are; neither tool is needed."""

import json
import re
import runpy
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPE = ROOT / "bench/packaging/spack/packages/league/package.py"
IMAGE = ROOT / "bench/packaging/apptainer/league.def"
CMAKE = "\n".join(
    path.read_text()
    for path in [ROOT / "CMakeLists.txt", *ROOT.glob("b*/**/*.cmake")]
    if "build" not in path.relative_to(ROOT).parts
)
OPTIONS = set(re.findall(r"(?:option|set)\((LEAGUE_\w+)", CMAKE))
PRESETS = [
    preset["name"]
    for preset in json.loads((ROOT / "CMakePresets.json").read_text())["buildPresets"]
]


class Base:
    """Stands for the classes of Spack that a recipe derives from."""

    cuda_arch_values = ("75", "90", "120")
    amdgpu_targets = ("gfx90a", "gfx942")

    @staticmethod
    def define(name, value):
        return f"-D{name}={value}"

    def define_from_variant(self, name, variant):
        return self.define(name, f"+{variant}" in self.spec)


class Spec(set):
    def __init__(self, *parts, **variants):
        super().__init__(parts)
        self.variants = {
            name: types.SimpleNamespace(value=(value,))
            for name, value in variants.items()
        }


@pytest.fixture
def recipe(monkeypatch):
    """The class of the recipe, and what it says in calls such as ``depends_on``."""
    said = []

    def note(word):
        return lambda *words, **more: said.append((word, words, more))

    words = ["version", "license", "variant", "depends_on", "generator", "conflicts"]
    bases = ("CMakePackage", "CudaPackage", "ROCmPackage")
    module = types.ModuleType("spack.package")
    vars(module).update({word: note(word) for word in words})
    vars(module).update({name: type(name, (Base,), {}) for name in bases})
    monkeypatch.setitem(sys.modules, "spack", types.ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", module)
    return runpy.run_path(str(RECIPE))["League"], said


def arguments(recipe, spec):
    package = recipe()
    package.spec = spec
    return dict(re.fullmatch(r"-D(\w+)=(.*)", a).groups() for a in package.cmake_args())


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (Spec(), {"LEAGUE_CUDA": "False", "LEAGUE_MPI": "False"}),
        (Spec("+cuda", cuda_arch="90"), {"LEAGUE_CUDA_ARCH": "90"}),
        (
            Spec("+rocm", amdgpu_target="gfx942"),
            {"CMAKE_HIP_ARCHITECTURES": "gfx942", "Kokkos_ENABLE_HIP": "True"},
        ),
    ],
)
def test_spack_gives_options_that_there_are(recipe, spec, expected):
    found = arguments(recipe[0], spec)
    assert expected.items() <= found.items()
    assert {name for name in found if name.startswith("LEAGUE_")} <= OPTIONS


def test_spack_needs_what_cmake_needs(recipe):
    needs = [words[0] for word, words, _ in recipe[1] if word == "depends_on"]
    (minimum,) = re.findall(r"cmake_minimum_required\(VERSION ([\d.]+)\)", CMAKE)
    assert f"cmake@{minimum}:" in needs
    (kokkos,) = [need for need in needs if need.startswith("kokkos@")]
    assert "find_package(Kokkos 4.7...<6 " in CMAKE and kokkos.startswith(
        "kokkos@4.7:5 "
    )
    for found, package in {
        "benchmark": "googlebenchmark",
        "nlohmann_json": "nlohmann-json",
        "CLI11": "cli11",
        "ZLIB": "zlib-api",
        "re2": "re2",
    }.items():
        assert f"find_package({found} " in CMAKE
        assert any(re.match(rf"{package}(@|$)", need) for need in needs), package


def test_spack_installs_folders_that_there_are():
    folders = re.search(r"for folder in \(([^)]*)\):", RECIPE.read_text()).group(1)
    for folder in re.findall(r'"(\w+)"', folders):
        assert (ROOT / folder).is_dir()


def test_the_recipe_knows_where_the_project_is():
    number = int(re.search(r"parents\[(\d)\]", RECIPE.read_text()).group(1))
    assert RECIPE.resolve().parents[number] == ROOT


def test_apptainer_takes_files_presets_and_options_that_there_are():
    text = IMAGE.read_text()
    copied = re.findall(r"^  (\S+) /opt/league/$", text, re.MULTILINE)
    assert len(copied) > 5 and all((ROOT / name).exists() for name in copied)
    given = dict(re.findall(r"^  (\w+)=(.*)$", text, re.MULTILINE))
    assert given["preset"] in PRESETS and "cuda" in PRESETS
    assert set(re.findall(r"-D (LEAGUE_\w+)", text)) <= OPTIONS
    assert set(re.findall(r"\{\{ (\w+) \}\}", text)) == set(given)


def test_the_citation_has_what_tools_need():
    text = (ROOT / ".github/CITATION.cff").read_text()
    keys = set(re.findall(r"^([\w-]+):", text, re.MULTILINE))
    assert {"cff-version", "title", "message", "authors", "license", "type"} <= keys
    assert "license: Apache-2.0\n" in text
