# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a module in a child process, and kills all its descendants when it or League ends.

Usage: python -m backends.python.supervisor MODULE SOCKET. This process is a subreaper (start.cpp): a process
below it whose parent ends becomes its child, whatever its session or process group. On SIGTERM it kills
all and ends; Linux sends it when League ends, even by SIGKILL. Not covered: if this process itself is
killed by SIGKILL, processes that have left its process group continue.
"""

from __future__ import annotations

import contextlib
import os
import resource
import runpy
import signal
import sys
import time

SIGNALS = {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


def descendants() -> set[int]:
    """Ids of all processes below this one."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
            parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def kill_all() -> None:
    """Repeats until there is no child, since more may have been started in between."""
    with contextlib.suppress(ChildProcessError):
        while True:
            for pid in descendants():
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(1e-3)


def status_of(worker: int) -> int:
    """The exit status; that of SIGTERM if a signal ended it before."""
    while signal.sigwait(SIGNALS) == signal.SIGCHLD:
        pid = -1
        while pid:  # one signal may be for several children
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == worker:
                return status
    return signal.SIGTERM


def end_like(status: int) -> None:
    """Ends this process with the worker's status."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError):  # SIGKILL's action cannot be set
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    os._exit(code)


def main(module: str, socket: str) -> None:
    """Returns in the worker only."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    worker = os.fork()
    if worker:
        status = status_of(worker)
        kill_all()
        end_like(status)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    sys.argv = [module, socket]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
