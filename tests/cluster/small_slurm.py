# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A Slurm of its own: munged, slurmctld and two slurmd, two virtual nodes on this machine, each with two
GPUs that are none (they are /dev/null under another name).

``python3 tests/cluster/small_slurm.py DIR`` starts it, as root, writes DIR/slurm.conf, prints ``ready`` and keeps it until
its standard input ends: however the one who started it ends, nothing stays behind. Then ``SLURM_CONF=DIR/slurm.conf sbatch``.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun")
SEARCHED = "/usr/sbin:/usr/local/sbin:" + os.environ.get("PATH", "")
NODES = ("n1", "n2")
PATIENCE_S = 30.0
PR_SET_CHILD_SUBREAPER = 36
CONFIGURATION = """ClusterName=small
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdPidFile={folder}/%n.pid
SlurmdLogFile={folder}/%n.log
SlurmdSpoolDir={folder}/spool.%n
TmpFS={folder}/tmp.%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
ReturnToService=2
GresTypes=gpu
KillWait=5
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cores} Gres=gpu:2 State=UNKNOWN
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cores} Gres=gpu:2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP
"""


def missing() -> str:
    """Why it cannot be started here; empty where it can."""
    if os.geteuid() != 0:
        return "only root starts slurmd"
    absent = [name for name in PROGRAMS if not shutil.which(name, path=SEARCHED)]
    return (
        f"not installed (bench/setup --cluster): {', '.join(absent)}" if absent else ""
    )


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on, for now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def prepare(folder: Path) -> None:
    """The folders, the configuration and a key for munge."""
    for name in (
        "state",
        *(f"{kind}.{node}" for kind in ("spool", "tmp") for node in NODES),
    ):
        (folder / name).mkdir()
    folder.chmod(0o755)  # munge's socket lies there
    key = folder / "munge.key"
    key.touch(0o600)
    key.write_bytes(os.urandom(128))
    text = CONFIGURATION.format(
        host=socket.gethostname().split(".")[0],
        folder=folder,
        ports=free_ports(3),
        cores=os.cpu_count(),
    )
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    for gpu in range(2):
        os.mknod(folder / f"gpu{gpu}", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    nodes = ",".join(NODES)
    text = f"NodeName={nodes} Name=gpu File={folder}/gpu[0-1]\n"
    (folder / "gres.conf").write_text(text, encoding="utf-8")


def commands(folder: Path) -> Iterator[list[str]]:
    """The daemons, in the foreground."""
    files = ("socket", "key-file", "pid-file", "log-file", "seed-file")
    names = ("socket", "key", "pid", "log", "seed")
    yield [
        "munged",
        "--foreground",
        "--force",
        *(f"--{f}={folder}/munge.{n}" for f, n in zip(files, names)),
    ]
    yield ["slurmctld", "-D"]
    for node in NODES:
        yield ["slurmd", "-D", "-N", node]


def wait_for_nodes(daemons: list[subprocess.Popen[bytes]]) -> None:
    """Until both are idle; raises RuntimeError."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if any(daemon.poll() is not None for daemon in daemons):
            break
        states = subprocess.run(
            ["sinfo", "-h", "-N", "-o", "%t"],
            capture_output=True,
            text=True,
            check=False,
        )
        if states.stdout.split() == ["idle"] * len(NODES):
            return
        time.sleep(0.2)
    raise RuntimeError("Slurm did not start: see its logs")


def children_of(parent: int) -> list[int]:
    """The processes that this one started, or that fell to it."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            fields = file.read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == parent:
                found.append(int(file.parent.name))
    return found


def reap() -> None:
    """Takes leave of the children that have ended: those of jobs fall to this process."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def wait_for_end_of_input() -> None:
    """Until whoever holds the other end of the standard input closes it, or ends."""
    ended = False
    while not ended:
        ready, _, _ = select.select([0], [], [], 1.0)
        ended = bool(ready) and not os.read(0, 4096)
        reap()


def stop_all() -> None:
    """Cancels the jobs, ends the daemons, then whatever is left of them: orphans fall to this process."""
    cancel = ["scancel", "--user=root"]
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(cancel, capture_output=True, timeout=PATIENCE_S, check=False)
    for sign in (signal.SIGTERM, signal.SIGKILL):
        end = time.monotonic() + (3 if sign == signal.SIGTERM else PATIENCE_S)
        while (left := children_of(os.getpid())) and time.monotonic() < end:
            for process in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, sign)
            time.sleep(0.1)
            reap()


def main(folder: Path) -> int:
    """Returns the exit code."""
    if reason := missing():
        print(reason, flush=True)
        return 2
    # A terminal's Ctrl-C is for all: this one waits for the end of its input. Not ignored: jobs would inherit that.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    os.environ.update(PATH=SEARCHED, SLURM_CONF=f"{folder}/slurm.conf")
    prepare(folder)
    try:
        daemons = []
        for number, command in enumerate(commands(folder)):
            with (folder / f"daemon-{number}.log").open("wb") as log:
                daemons.append(
                    subprocess.Popen(
                        command, stdin=subprocess.DEVNULL, stdout=log, stderr=log
                    )
                )
            time.sleep(0.3)  # munged first
        wait_for_nodes(daemons)
        print("ready", flush=True)
        wait_for_end_of_input()
    finally:
        stop_all()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
