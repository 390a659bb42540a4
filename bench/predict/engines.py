# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cost of a collective by the algorithm of its engine: sequential stages, and bytes over one link.

The time of a call is latency + stages x latency of a stage + bytes / bandwidth, apart for
the links within a node and the network between nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

KINDS = (
    *("all_reduce", "reduce_scatter", "all_gather"),
    *("gather", "broadcast", "exchange"),
)
# within a node; between nodes all use trees, and exchanges the neighbour
ALGORITHMS = {
    "local": "flat",
    "local_serialized": "flat",
    "nccl": "ring",
    "mpi": "tree",
}
TREE = "tree"


@dataclass(frozen=True)
class Placed:
    """Devices over nodes, as many in each."""

    devices: int
    nodes: int

    @property
    def within(self) -> int:
        """Devices of one node."""
        return math.ceil(self.devices / self.nodes)


def algorithm(engine: str) -> str:
    """The algorithm of an engine; unknown engines count as rings."""
    return ALGORITHMS.get(engine, "ring")


def stages(how: str, kind: str, count: int) -> float:
    """Sequential messages; 0 for one device."""
    if count < 2:
        return 0
    if kind == "exchange":
        return 1
    twice = 2 if kind == "all_reduce" else 1  # the sum, and back
    if how in (TREE, "ring"):  # short messages of rings' engines take trees
        return twice * math.ceil(math.log2(count))
    return count - 1  # every device waits for all others


def volume(how: str, kind: str, count: int) -> float:
    """Bytes over the busiest link, as a multiple of the call's own bytes.

    These are the values that are added, or all pieces together; of an exchange, one halo.
    """
    if count < 2:
        return 0
    if kind == "exchange":
        return 1 if count == 2 else 2  # neighbours
    if how == "flat" and kind in ("all_reduce", "broadcast"):
        return count - 1
    if kind == "broadcast":
        return 1
    share = (count - 1) / count
    return 2 * share if kind == "all_reduce" else share


def columns(engine: str, kind: str, size: float, place: Placed) -> list[float]:
    """What one call adds to the columns of the model (see model.COLUMNS) from ``call`` on."""
    if place.devices < 2:
        return [0.0] * 5
    how, inner = algorithm(engine), place.within
    across = volume(TREE, kind, place.nodes)
    if kind in ("all_reduce", "reduce_scatter", "all_gather"):
        across /= inner  # each device takes its part of the values through its own port
    return [
        1.0,
        stages(how, kind, inner),
        volume(how, kind, inner) * size,
        stages(TREE, kind, place.nodes),
        across * size,
    ]
