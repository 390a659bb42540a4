# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whatever Hypothesis makes up for the report's readers, they read or refuse it.

LEAGUE_FUZZ_EXAMPLES: of each test.
"""

import gzip
import json
import math
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as make

from bench.report import fields, manifest, records, sources

EXAMPLES = settings(
    max_examples=int(os.environ.get("LEAGUE_FUZZ_EXAMPLES", "300")),
    deadline=None,
    database=None,
    derandomize="LEAGUE_FUZZ_EXAMPLES" not in os.environ,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
NUMBERS = make.integers() | make.floats() | make.sampled_from([0, 1, -1, 2**63, 1e308])
LEAVES = make.none() | make.booleans() | NUMBERS | make.text(max_size=8)
VALUES = make.recursive(
    LEAVES,
    lambda inner: (
        make.lists(inner, max_size=4)
        | make.dictionaries(make.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


def places(value, path=()):
    """The paths to all values."""
    yield path
    keys = range(len(value)) if isinstance(value, list) else value
    for key in keys if isinstance(value, (dict, list)) else ():
        yield from places(value[key], (*path, key))


def replaced(value, path, by):
    """A copy with another value at a path."""
    if not path:
        return by
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], by)
    return copy


def refusal(read, path):
    """What a reader says of a file; None if it takes it."""
    try:
        return read(sources.of(path)), None
    except fields.Broken as error:
        return None, str(error)


def check(cases, reason):
    """What holds of any record."""
    if reason is not None:
        assert reason and reason.isprintable()
        return
    for case in cases:
        staged = [time for times in case.stages.values() for time in times]
        times = [*case.samples, *case.latencies, *staged]
        assert all(0 <= time < math.inf for time in times)
        assert (case.status == "passed") == bool(case.samples)
        assert "\0" not in case.name + case.reason + case.comparison


@pytest.fixture
def whole(entry, save):
    """A record that has what a record may have."""
    event = {"device": 0, "stage": "add", "begin_s": 0.0, "end_s": 1e-3}
    more = {
        "timeline": [event],
        "stages": {"add": 1e-3},
        "latency_s": 1e-3,
        "counts": {"rows": 3},
    }
    more["check"] = {"figures": {"accuracy": 0.9}, "curves": {"loss": [1.0, 0.5]}}
    more["expected"] = {"accuracy": [0.8, 1.0]}
    folder = save(
        [
            entry("kokkos", [1e-3] * 6, **more),
            entry("hip"),
            entry("cuda", status="failed"),
        ],
        file="x.json",
    )
    return next(folder.rglob("x.json"))


@EXAMPLES
@given(data=make.data())
def test_records_with_a_value_that_is_another(whole, data):
    record = json.loads(whole.read_text())
    path = data.draw(make.sampled_from(list(places(record))))
    changed = whole.with_name("changed.json")
    changed.write_text(json.dumps(replaced(record, path, data.draw(VALUES))))
    check(*refusal(records.read_file, changed))


@EXAMPLES
@given(
    content=make.binary() | VALUES.map(lambda value: json.dumps(value).encode()),
    packed=make.booleans(),
)
def test_files_of_any_bytes(tmp_path, content, packed):
    for name, data in [
        ("run.json", content),
        ("run.json.gz", gzip.compress(content) if packed else content),
    ]:
        (tmp_path / name).write_bytes(data)
        check(*refusal(records.read_file, tmp_path / name))
        refusal(manifest.read_manifest, tmp_path / name)
        (tmp_path / name).unlink()


@EXAMPLES
@given(data=make.data())
def test_manifests_with_a_value_that_is_another(tmp_path, data):
    made = {
        "schema": 2,
        "study": "s",
        "run_id": "1",
        "cases": ["a", "linear_regression/method:graph/model:cuda/n:1"],
    }
    path = data.draw(make.sampled_from(list(places(made))))
    (tmp_path / "run.json").write_text(
        json.dumps(replaced(made, path, data.draw(VALUES)))
    )
    found, reason = refusal(manifest.read_manifest, tmp_path / "run.json")
    assert reason is None or reason.isprintable()
    assert found is None or (
        found.run_id and all(isinstance(name, str) for name in found.cases)
    )
