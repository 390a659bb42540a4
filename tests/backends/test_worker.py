# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a worker receives its calls, and answers what went wrong."""

import os
import socket

import pytest

from backends.python import worker
from backends.python.peer import Unsupported


def test_calls_come_with_the_files_that_were_sent_with_them(tmp_path):
    ours, theirs = socket.socketpair()
    with ours, theirs, open(tmp_path / "file", "w+") as file:
        calls = worker.requests(theirs)
        ours.sendall(b'{"call": "load"}\n{"call": "fe')
        assert next(calls) == {"call": "load", "files": []}
        ours.sendall(b'nce"}\n')
        assert next(calls) == {"call": "fence", "files": []}
        socket.send_fds(ours, [b'{"call": "pre'], [file.fileno()])
        ours.sendall(b'pare"}\n{"call": "upload"}\n')
        prepare = next(calls)
        assert prepare["call"] == "prepare" and len(prepare["files"]) == 1
        os.write(prepare["files"][0], b"shared")
        os.close(prepare["files"][0])
        assert (tmp_path / "file").read_text() == "shared"
        assert next(calls) == {"call": "upload", "files": []}
        ours.shutdown(socket.SHUT_RDWR)
        assert list(calls) == []


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (Unsupported("too large"), {"unsupported": "too large"}),
        (ModuleNotFoundError("no module a"), {"unsupported": "no module a"}),
        (MemoryError("1 GB"), {"unsupported": "out of memory: 1 GB"}),
        (
            RuntimeError("RESOURCE_EXHAUSTED: Out of memory, 4 GiB"),
            {"unsupported": "out of memory: RESOURCE_EXHAUSTED: Out of memory, 4 GiB"},
        ),
        (
            RuntimeError("RESOURCE_EXHAUSTED: registers"),
            {"failed": "RuntimeError: RESOURCE_EXHAUSTED: registers"},
        ),
        (KeyError("a"), {"failed": "KeyError: 'a'"}),
        (OSError("a\udcff"), {"failed": r"OSError: a\udcff"}),
        (Unsupported("a\udcff"), {"unsupported": r"a\udcff"}),
    ],
)
def test_a_worker_answers_what_went_wrong(error, answer):
    class Raising:
        def fence(self, _):
            raise error

    assert worker.answer(Raising(), {"call": "fence"}) == answer
