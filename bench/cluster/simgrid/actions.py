# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The actions of one traced device become those of many: what it computes is scaled, its calls are kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bench.report.fields import Broken

BYTE = "6"  # SimGrid's number of MPI_BYTE
CALLS = ("allreduce", "reducescatter", "allgather", "gather", "bcast", "isend")
ASIDE = ("init", "finalize", "irecv")


@dataclass(frozen=True)
class Step:
    """What every device does, in order."""

    lines: tuple[tuple[str, ...], ...]  # of shard 0, without its number
    shards: int  # of the trace

    @property
    def traced(self) -> float:
        """Compute time of shard 0 [ns]."""
        return sum(float(line[1]) for line in self.lines if line[0] == "compute")


def read_step(path: Path) -> Step:
    """From a file of ``league run --trace-steps``; raises Broken."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Broken(f"{path}: cannot be read: {error}") from error
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    ranks = {line[0] for line in lines if line}
    first = tuple(tuple(line[1:]) for line in lines if line and line[0] == "0")
    if len(ranks) < 2:
        raise Broken(
            f"{path}: traces {len(ranks)} device: takes two or more, which talk"
        )
    known = (*CALLS, *ASIDE, "compute", "waitall")
    for line in first:
        if not line or line[0] not in known:
            raise Broken(f"{path}: no action of League: '{' '.join(line)}'")
    step = Step(first, len(ranks))
    if step.traced <= 0:
        raise Broken(f"{path}: shard 0 computes nothing")
    return step


def actions(
    step: Step, rank: int, ranks: int, compute_s: float, call_s: float, grown: float
) -> list[str]:
    """The actions of one device among ``ranks``. ``grown``: gathered bytes over those in the trace."""
    scale = compute_s * 1e9 / step.traced
    found = ["init"]
    for line in step.lines:
        name = line[0]
        if name == "compute":
            found.append(f"compute {float(line[1]) * scale:.0f}")
        elif name in ASIDE or (ranks == 1 and name != "compute"):
            continue
        elif name == "waitall":
            found.append(name)
        else:
            found.append(f"compute {call_s * 1e9:.0f}")
            found += call(line, rank, ranks, step.shards, grown)
    return [f"{rank} {action}" for action in [*found, "finalize"]]


def call(
    line: tuple[str, ...], rank: int, ranks: int, shards: int, grown: float
) -> list[str]:
    """One call of one device; ``shards``: of the trace."""
    name = line[0]
    if name == "isend":
        beside = [one for one in (rank - 1, rank + 1) if 0 <= one < ranks]
        sends = [f"isend {one} 0 {line[3]} {BYTE}" for one in beside]
        return sends + [f"irecv {one} 0 {line[3]} {BYTE}" for one in beside]
    if name == "gather":
        piece = max(round(float(line[1]) * grown), 1)
        return [f"gather {piece} {piece} 0 {BYTE} {BYTE}"]
    if name == "allgather":
        piece = max(round(float(line[1]) * shards / ranks), 1)
        return [f"allgather {piece} {piece} {BYTE} {BYTE}"]
    if name == "reducescatter":
        piece = max(round(sum(map(float, line[1:-2])) / ranks), 1)
        return [f"reducescatter {' '.join([str(piece)] * ranks)} 0 {BYTE}"]
    return [" ".join(line)]
