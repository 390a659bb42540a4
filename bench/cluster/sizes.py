# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sizes that a study runs at: nodes, GPUs and ranks of a job."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import BadInput
from .site_file import Site


@dataclass(frozen=True)
class Size:
    """One job: ``gpus`` and ``ranks`` a node, ``cores`` a rank."""

    nodes: int
    gpus: int
    ranks: int
    cores: int

    @property
    def name(self) -> str:
        """``2x4``: its folder."""
        return f"{self.nodes}x{self.gpus or self.ranks}"

    @property
    def devices(self) -> int:
        """Of all ranks together; a rank without a GPU drives a host device."""
        return self.nodes * (self.gpus or self.ranks)

    @property
    def text(self) -> str:
        """In words."""
        nodes = f"{self.nodes} node{'s' if self.nodes > 1 else ''}"
        each = f"{self.gpus} GPU{'s' if self.gpus > 1 else ''}, " if self.gpus else ""
        return f"{nodes}, each {each}{self.ranks} rank{'s' if self.ranks > 1 else ''} of {self.cores} cores"


def one(site: Site, nodes: int, gpus: int, ranks: int) -> Size:
    """Cores are shared out by GPUs, so that a rank has as many in all sizes."""
    if gpus > site.gpus_per_node:
        raise BadInput(
            f"--gpus-per-node {gpus}: the site has {site.gpus_per_node} a node (gpus_per_node)"
        )
    ranks = ranks or site.ranks_per_node or max(gpus, 1)
    if gpus:
        ranks = min(ranks, gpus)
        if gpus % ranks:
            raise BadInput(
                f"{gpus} GPUs cannot be shared out evenly to {ranks} ranks (--ranks-per-node)"
            )
    share = gpus / site.gpus_per_node if gpus else 1
    cores = int(site.cores_per_node * share / ranks)
    if cores < 1:
        raise BadInput(
            f"{ranks} ranks a node: more than its {site.cores_per_node} cores (cores_per_node)"
        )
    return Size(nodes, gpus, ranks, cores)


def sizes(site: Site, nodes: list[int], gpus: list[int], ranks: int) -> list[Size]:
    """All numbers of GPUs on one node, the largest on several."""
    wanted = gpus or [site.gpus_per_node]
    return [
        one(site, count, each, ranks)
        for count in sorted(set(nodes))
        for each in (sorted(set(wanted)) if count == 1 else [max(wanted)])
    ]
