# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One replay: the files of SimGrid's smpirun, its run and its time."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from bench.report.fields import Broken

from .actions import Step, actions
from .machine import STRETCH, Machine, to_xml

SMPIRUN = "smpirun"
TIME = re.compile(r"Simulation time ([0-9.eE+-]+)")
LARGE = 256 * 1024  # bytes from which sums go in rings
# a link's own latency and bandwidth, none of SMPI's factors for TCP over Ethernet
OPTIONS = (
    "network/model:CM02",
    "network/TCP-gamma:1e15",
    "smpi/host-speed:1Gf",
    "smpi/bcast:binomial_tree",
    "smpi/reduce:binomial",
    "smpi/gather:ompi_binomial",
    "surf/precision:1e-12",
)


def available() -> bool:
    """Whether SimGrid is installed here."""
    return shutil.which(SMPIRUN) is not None


def largest(step: Step) -> float:
    """Bytes of the largest sum."""
    return max(
        (float(line[1]) for line in step.lines if line[0] == "allreduce"), default=0
    )


def replay(
    step: Step,
    machine: Machine,
    ranks: int,
    compute_s: float,
    call_s: float,
    grown: float,
) -> float:
    """Seconds of one step on the first ``ranks`` devices of a machine.

    ``compute_s``: of every device; ``call_s``: overhead of a call beside its messages;
    ``grown``: gathered bytes per device over those in the trace. Raises Broken
    where SimGrid is missing or fails.
    """
    if not available():
        raise Broken(
            "SimGrid is missing (bench/setup --cluster, or apt-get install libsimgrid-dev)"
        )
    with tempfile.TemporaryDirectory(prefix="league-simgrid-") as name:
        folder = Path(name)
        files = []
        for rank in range(ranks):
            lines = actions(step, rank, ranks, compute_s, call_s, grown)
            files.append(folder / f"rank{rank}")
            files[-1].write_text("\n".join(lines) + "\n", encoding="utf-8")
        listed = "\n".join(map(str, files)) + "\n"
        (folder / "traces").write_text(listed, encoding="utf-8")
        (folder / "platform.xml").write_text(to_xml(machine), encoding="utf-8")
        hosts = "\n".join(machine.hosts[:ranks]) + "\n"
        (folder / "hosts").write_text(hosts, encoding="utf-8")
        sums = "lr" if largest(step) >= LARGE else "redbcast"
        command = [SMPIRUN, "-np", str(ranks), "-replay", "traces"]
        command += ["-platform", "platform.xml", "-hostfile", "hosts"]
        command += [
            f"--cfg={option}" for option in (*OPTIONS, f"smpi/allreduce:{sums}")
        ]
        done = subprocess.run(
            command, check=False, cwd=folder, capture_output=True, text=True
        )
        found = TIME.search(done.stdout + done.stderr)
        if done.returncode or not found:
            said = (done.stdout + done.stderr).strip().splitlines()
            grave = [line for line in said if "CRITICAL" in line] or said[-1:]
            raise Broken(f"SimGrid: {' '.join(grave) or done.returncode}")
    return float(found.group(1)) / STRETCH
