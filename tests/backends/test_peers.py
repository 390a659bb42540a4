# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python side of peers: the catalogue, answers of a worker, holding back a GPU's batch."""

import json
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from backends.python import catalogue, driver, worker
from backends.python.gpu import LONGEST_HOLD_S, GpuPeer
from backends.python.graphs import LONGEST_GRAPH, graph_lengths
from backends.python.peer import Device, HostPeer, Unsupported

ROOT = Path(__file__).resolve().parents[2]
PEER = """import json
import os.path
import no_such_library.inner
from also_missing import part
from backends.python.gpu import TorchPeer
from backends.python.peer import HostPeer

class Base(HostPeer):
    dtypes = ("f64", "i32")

class First(Base):
    method = "first"
    description = "one"

class Second(First):
    method = "second"
    kind = "gpu"
    problem = "other"

class Third(TorchPeer):
    method = "third"
    description = "three"
"""


@pytest.fixture
def project(tmp_path):
    """project(text) -> the root of a project with one peer file."""

    def write(text):
        folder = tmp_path / "algorithms" / "sum" / "peers"
        folder.mkdir(parents=True, exist_ok=True)
        copytree(ROOT / "backends", tmp_path / "backends", dirs_exist_ok=True)
        (folder / "lib.py").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_catalogue_reads_literals_and_bases(project):
    first, second, third = catalogue.catalogue(project(PEER))["peers"]
    assert (first["algorithm"], first["model"]) == ("sum", "lib")
    assert first["method"] == "first"
    assert first["dtypes"] == second["dtypes"] == ("f64", "i32")
    assert (first["kind"], second["kind"], third["kind"]) == ("host", "gpu", "gpu")
    assert (first["problem"], second["problem"]) == ("", "other")
    assert third["dtypes"] == ("f32",)
    assert second["description"] == "one"


def test_catalogue_follows_helpers_of_ours(project):
    text = "from algorithms.sum.peers import helper\nclass A(helper.Helped):\n    method = 'a'\n"
    root = project(text)
    helper = "import no_such_library\nfrom backends.python.gpu import CupyPeer\n"
    helper += "class Helped(CupyPeer):\n    description = 'helped'\n"
    (root / "algorithms/sum/peers/helper.py").write_text(helper, encoding="utf-8")
    (peer,) = catalogue.catalogue(root)["peers"]
    assert (peer["kind"], peer["description"]) == ("gpu", "helped")
    assert peer["modules"] == ["numpy", "no_such_library"]


def test_catalogue_names_what_is_missing(project):
    for peer in catalogue.catalogue(project(PEER))["peers"]:
        assert peer["modules"] == ["numpy", "no_such_library", "also_missing"]
        assert peer["unavailable"].startswith(
            "no module no_such_library, also_missing in Python 3."
        )


def test_catalogue_of_a_present_library(project):
    text = "import numpy\nfrom backends.python.peer import HostPeer\n"
    text += "class A(HostPeer):\n    method = 'a'\n    description = 'b'\n"
    whole = catalogue.catalogue(project(text))
    assert [peer["unavailable"] for peer in whole["peers"]] == [""]
    assert whole["modules"] == {"numpy": np.__version__}


def test_catalogue_takes_literals_only(project):
    text = "class A:\n    method = 'a' + 'b'\n"
    with pytest.raises(ValueError, match=r"lib\.py: .* must be literals"):
        catalogue.catalogue(project(text))


def test_catalogue_imports_no_library():
    code = (
        "import sys; from backends.python import catalogue; found = catalogue.catalogue();"
        "import json; print(json.dumps([found, 'numpy' in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True
    )
    found, imported = json.loads(done.stdout)
    assert not imported
    assert {peer["algorithm"] for peer in found["peers"]} >= {"vector_add"}


PEERS = catalogue.catalogue()["peers"]


@pytest.mark.parametrize("peer", PEERS, ids=lambda p: f"{p['algorithm']}/{p['model']}")
def test_listed_peers_are_whole(peer):
    assert set(peer) == {
        *catalogue.FIELDS,
        "algorithm",
        "model",
        "modules",
        "unavailable",
    }
    assert peer["kind"] in ("host", "gpu")
    assert peer["dtypes"] and set(peer["dtypes"]) <= set(worker.DTYPES)
    assert peer["description"]


def test_no_two_peers_have_one_name():
    names = [(p["algorithm"], p["model"], p["method"]) for p in PEERS]
    assert len(set(names)) == len(names)


def test_a_method_solves_one_problem():
    """For all libraries: otherwise one of them would be checked by the other's oracle."""
    problems = {(p["algorithm"], p["method"], p["problem"]) for p in PEERS}
    methods = [(algorithm, method) for algorithm, method, _ in sorted(problems)]
    assert sorted(set(methods)) == methods


@pytest.mark.parametrize("dtype", ["f32", "f64", "i32"])
def test_driver_runs_a_peer_from_its_initial_state(dtype):
    peer = driver.variants(driver.load("vector_add", "numpy"))["library"]
    values = np.arange(5).astype(worker.DTYPES[dtype])
    inputs, parameters = {"a": values, "b": values}, {"n": 5, "dtype": dtype}
    assert driver.run(peer, inputs, parameters)["sum"].tolist() == [0, 2, 4, 6, 8]
    left = driver.prepare(peer, inputs, parameters, Device())
    left.compute()
    left.reset()
    assert left.download()["sum"].tolist() != [0, 2, 4, 6, 8]


class Sum(HostPeer):
    method = "sum"
    only = (("memory", "device"),)

    def compute(self):
        self.total = self.inputs["a"].sum(keepdims=True)

    def download(self):
        return {"total": self.total}


def test_a_parameter_that_is_not_understood_is_unsupported():
    Sum({}, {"memory": "device"}, Device())
    with pytest.raises(Unsupported, match="takes memory = device only"):
        Sum({}, {"memory": "unified"}, Device())


@pytest.mark.parametrize("seconds", [2, 2.0, np.float32(2), np.float64(2), np.int64(2)])
def test_a_time_is_a_number(seconds):
    assert json.dumps(worker.finite(seconds)) == "2.0"


@pytest.mark.parametrize(
    "seconds",
    [float("nan"), float("-inf"), np.float32("nan"), "2", True, None, [2], 2j],
)
def test_what_is_no_time_is_refused(seconds):
    with pytest.raises(TypeError, match="as the seconds of a compute"):
        worker.finite(seconds)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({"a": np.zeros(2, np.float64)}, r"'a' is float64\[2\], not float32\[2\]"),
        ({"a": np.zeros((2, 1), np.float32)}, r"'a' is float32\[2, 1\], not"),
        ({"b": np.zeros(2, np.float32)}, r"outputs are \['b'\], not \['a'\]"),
        ({}, r"outputs are \[\], not \['a'\]"),
    ],
)
def test_outputs_are_those_of_the_problem(results, message):
    outputs = {"a": np.full(2, 7, np.float32)}
    with pytest.raises(ValueError, match=message):
        worker.copy_outputs(results, outputs)
    worker.copy_outputs({"a": np.ones(2, np.float32)}, outputs)
    assert outputs["a"].tolist() == [1, 1]


class Stream(GpuPeer):
    """A stream with a fake clock: a compute takes 2 s and 0.01 s to submit."""

    method = "stream"
    waits = False

    def __init__(self):
        super().__init__({}, {}, Device("gpu"))
        self.host, self.stream, self.holds = 0.0, 0.0, []

    def compute(self):
        self.host += 0.01
        self.stream = max(self.stream, self.host) + 2
        if self.waits:
            self.fence()

    def download(self):
        return {}

    def fence(self):
        self.host = max(self.host, self.stream)

    def hold(self, seconds):
        self.holds.append(seconds)
        self.stream = max(self.stream, self.host) + seconds

    def mark(self):
        return max(self.stream, self.host)

    def reached(self, mark):
        return self.host >= mark

    def between(self, begin, end):
        return end - begin


def test_a_hold_grows_until_the_batch_is_queued_whole():
    stream = Stream()
    assert stream.time(10) == pytest.approx(2)
    assert stream.holds == [0.001, 0.004, 0.016, 0.064, 0.256]
    assert stream.held
    stream.time(10)
    assert stream.holds[5:] == [0.256]


def test_a_compute_that_waits_is_timed_as_it_comes():
    stream = Stream()
    stream.waits = True
    assert stream.time(10) == pytest.approx(2.01)
    assert not stream.held
    assert max(stream.holds) <= LONGEST_HOLD_S


@pytest.mark.parametrize(
    ("steps", "period", "lengths"),
    [
        (250, 1, [(100, 2), (50, 1)]),
        (200, 1, [(100, 2)]),
        (7, 1, [(7, 1)]),
        (250, 30, [(120, 2), (10, 1)]),  # whole passes over the rows
        (0, 1, []),
    ],
)
def test_steps_are_cut_into_graphs(steps, period, lengths):
    assert graph_lengths(steps, period) == lengths


def test_a_round_too_long_for_a_graph_is_refused():
    with pytest.raises(Unsupported, match="2001 batches"):
        graph_lengths(5000, LONGEST_GRAPH + 1)
