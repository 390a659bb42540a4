# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The program, the published records, the report's types and the page agree with record.schema.json."""

import json
import lzma
import subprocess
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from bench.record import page
from bench.report import schema

ROOT = Path(__file__).resolve().parents[2]
LEAGUE = ROOT / "build/openmp/league"
WHOLE = json.loads((ROOT / "bench/record/record.schema.json").read_text("utf-8"))
DEFINITIONS = WHOLE["$defs"]
PUBLISHED = sorted((ROOT / "bench/results").rglob("*.jsonl.xz"))
ALONE = {"Line"}  # of the schema alone: bench/report/sources.py reads lines
STUDY = """
samples = 6
algorithm = "vector_add"
methods = ["plain", "flat"]
models = ["serial", "openmp", "kokkos"]
sizes = [1000, 4099]
"""
MORE = "end_to_end = true\nenergy = true\n"


def validator(name):
    """Of one of the definitions."""
    return Draft202012Validator({**DEFINITIONS[name], "$defs": DEFINITIONS})


def wrong(content, manifest=False):
    """What the schema says of a record or manifest: where, and why."""
    found = validator("Manifest" if manifest else "Record").iter_errors(content)
    return [f"{one.json_path}: {one.message:.300}" for one in found]


def test_the_schema_is_one():
    Draft202012Validator.check_schema(WHOLE)
    for found in DEFINITIONS.values():
        assert found["description"].endswith(".")
        texts = [one["description"] for one in found["properties"].values()]
        assert all(text.endswith(".") for text in texts)


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.parent.name)
def test_published_records(path):
    names = set()
    for line in lzma.decompress(path.read_bytes()).splitlines():
        content = json.loads(line)
        names.add(content["file"])
        assert wrong(content["record"], content["file"] == "run.json") == []
    assert names and not validator("Line").is_valid({"file": "../x.json", "record": {}})


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The records and the manifest of a small study, by the names of their files."""
    folder = tmp_path_factory.mktemp("schema")
    (folder / "a.toml").write_text(STUDY)
    (folder / "b.toml").write_text(STUDY.replace("6", '"auto"', 1) + MORE)
    files = {}
    for name in ("a", "b"):
        records = folder / name
        command = [LEAGUE, "run", folder / f"{name}.toml", "--records", records]
        if name == "b":
            command = ["nice", "-n", "1", *command]  # told in the manifest
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        files |= {f"{name}/{path.name}": path for path in records.glob("*.json")}
    return {name: json.loads(path.read_text()) for name, path in files.items()}


@pytest.mark.skipif(not LEAGUE.exists(), reason="no build/openmp/league")
def test_what_the_program_writes(written):
    assert {"a/run.json", "b/run.json"} < set(written) and len(written) == 6
    assert "niceness" in written["b/run.json"]["environment"]["process"]
    for name, content in written.items():
        assert wrong(content, name.endswith("run.json")) == []
    rows = [row for one in written.values() for row in one.get("benchmarks", [])]
    kinds = {row["model"]: row["kind"] for row in rows}
    assert kinds == {"serial": "reference", "openmp": "native", "kokkos": "portable"}


def normal(found):
    """A part of a schema without what only tells people, references resolved."""
    if isinstance(found, list):
        return [normal(one) for one in found]
    if not isinstance(found, dict):
        return found
    if "$ref" in found:
        return found["$ref"].rpartition("/")[2]
    if "properties" in found:
        fields = {name: normal(one) for name, one in found["properties"].items()}
        return {"fields": fields, "required": sorted(found.get("required", []))}
    left_out = ("description", "title", "default", "$defs")
    found = {k: normal(v) for k, v in found.items() if k not in left_out}
    found |= {"enum": sorted(found["enum"])} if "enum" in found else {}
    if "const" in found or found.get("enum") == [schema.VERSION]:
        return {"const": schema.VERSION}
    if "anyOf" in found:
        return alternatives(found["anyOf"])
    if isinstance(found.get("type"), list):
        rest = {k: v for k, v in found.items() if k != "type"}
        some = [
            one if one == "null" else {"type": one, **rest} for one in found["type"]
        ]
        return alternatives(
            [{"type": "null"} if one == "null" else one for one in some]
        )
    return found


def alternatives(found):
    """In one order."""
    return {"anyOf": sorted(found, key=lambda one: json.dumps(one, sort_keys=True))}


def test_the_types_of_the_report_have_the_same_fields():
    names = sorted(set(DEFINITIONS) - ALONE)
    types = [getattr(schema, name) for name in names]
    _, made = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    assert sorted(made) == names
    there = {name: normal(DEFINITIONS[name]) for name in names}
    here = {name: normal(made[name]) for name in names}
    # these are read one by one, so that a message can name them
    there["Record"]["fields"]["benchmarks"].pop("minItems")
    here["Record"]["fields"]["benchmarks"]["items"] = "Row"
    here["League"]["fields"]["devices"]["items"] = "Device"
    for name in names:
        assert here[name] == there[name], name


def test_what_the_schema_lacks_is_refused():
    """Only facts of devices, and what has names of its own, may have other fields."""
    free = {
        name
        for name, found in DEFINITIONS.items()
        if found["additionalProperties"] is not False
    }
    assert free == {"Device"}


def test_the_page_has_these_fields(capsys):
    assert page.main(["--check"]) == 0, capsys.readouterr().out
