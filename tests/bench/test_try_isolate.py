# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`league try --isolate`: neither network nor home folder, where the system allows it."""

import json
import os

import pytest

from tests.bench.test_try import FEW, LEAGUE, league_try

pytestmark = pytest.mark.skipif(not LEAGUE.exists(), reason="no build/openmp/league")
ASKS = """import os, socket
def vector_add(a, b):
    raise RuntimeError(f"{sorted(os.listdir(os.environ['HOME']))} {len(socket.if_nameindex())}")
"""
KEYS = "keys"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home folder with a secret."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / KEYS).write_text("secret", encoding="utf-8")
    monkeypatch.setenv("HOME", str(folder))
    return folder


def reason_of(file, records, *words):
    """Why the file failed; the finished process, and what the record says of its files."""
    few = (*FEW, "--set", "sizes=1000")
    done, rows = league_try(
        *(file, "--as", "vector_add", *few, *words), records=records, code=1
    )
    of_run = json.loads((records / "run.json").read_text("utf-8"))
    return rows[f"your_python {file.stem}"]["reason"], done, of_run


def namespaces_or_skip(done):
    if "stays: Operation not permitted" in done.stderr:
        pytest.skip("no namespaces here")


def test_neither_network_nor_home_folder_is_there(home, tmp_path):
    file = tmp_path / "asks.py"
    file.write_text(ASKS, encoding="utf-8")
    reason, done, record = reason_of(file, tmp_path / "records", "--isolate")
    namespaces_or_skip(done)
    assert reason == "RuntimeError: [] 1"  # lo, which is down
    assert '"isolated": ["network", "home"]' in json.dumps(record)
    reason, _, record = reason_of(file, tmp_path / "open")
    assert reason.startswith(f"RuntimeError: ['{KEYS}'] ")
    assert "isolated" not in json.dumps(record)
    assert os.listdir(home) == [KEYS]


def test_what_is_needed_of_the_home_folder_stays(home, tmp_path):
    file = home / "mine/asks.py"
    file.parent.mkdir()
    file.write_text(ASKS, encoding="utf-8")
    reason, done, _ = reason_of(file, tmp_path / "records", "--isolate")
    namespaces_or_skip(done)
    assert reason == "RuntimeError: ['mine'] 1"
    assert f"what is needed of the home folder stays: {file}" in done.stderr


def test_what_cannot_be_hidden_is_said(home, tmp_path, monkeypatch):
    file = tmp_path / "asks.py"
    file.write_text(ASKS, encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    reason, done, _ = reason_of(file, tmp_path / "records", "--isolate")
    assert "asks.py" in reason
    assert f"the home folder stays: {tmp_path} is needed" in done.stderr
