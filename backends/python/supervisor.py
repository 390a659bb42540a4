# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a module in a child process, and kills whatever that has started when it ends or League does.

Usage: python -m backends.python.supervisor MODULE SOCKET. This process is a subreaper (start.cpp): a process
below it whose parent ends becomes its child, whatever its session or process group. SIGTERM asks it to kill
all and end; Linux sends it when League ends, even by SIGKILL. One case is not covered: where this process
itself is killed by SIGKILL, what has left its process group goes on.
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
    """Until there is no child: more may have been started in between."""
    with contextlib.suppress(ChildProcessError):
        while True:
            for pid in descendants():
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            time.sleep(1e-3)


def status_of(worker: int) -> int:
    """How it ended; as if by SIGTERM where a signal asked for the end before."""
    while signal.sigwait(SIGNALS) == signal.SIGCHLD:
        pid = -1
        while pid:  # one signal may stand for several children
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == worker:
                return status
    return signal.SIGTERM


def end_like(status: int) -> None:
    """Ends this process as the worker did."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError):  # SIGKILL has no other action
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
