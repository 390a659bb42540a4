# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a worker receives its calls."""

import os
import socket

from backends.python import worker


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
