# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stages inside a peer's compute, in a pass of its own: never while samples are taken."""

from __future__ import annotations

from typing import Any

from .peer import Peer


class Stages:
    """Marks where stages end; each begins where the one before ended, the first with the compute."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.begin = peer.mark()
        self.marks: list[tuple[str, Any]] = []

    def end(self, stage: str) -> None:
        """What was submitted since the last mark is this stage."""
        self.marks.append((stage, self.peer.mark()))

    def seconds(self) -> dict[str, float]:
        """Of each stage, all its times together. @pre the peer was fenced"""
        found: dict[str, float] = {}
        before = self.begin
        for stage, mark in self.marks:
            found[stage] = found.get(stage, 0.0) + self.peer.between(before, mark)
            before = mark
        return found


def traced(peer: Peer) -> dict[str, float]:
    """The stages of one compute, as warm as samples are; none where it is one call, or captured as a whole."""
    peer.reset()
    if not peer.reset_each:
        peer.compute()
    peer.fence()
    peer.hold_back()
    peer.trace = Stages(peer)
    try:
        peer.compute()
        peer.fence()
        return peer.trace.seconds()
    finally:
        peer.trace = None
