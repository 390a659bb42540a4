# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A described machine: devices of a node and links, each number as a range with its source."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.report.fields import Broken


@dataclass(frozen=True)
class Range:
    """A number as a range with documented ends, uniform between them."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The geometric mean of the ends: the error is a factor."""
        return float((self.low * self.high) ** 0.5)


@dataclass(frozen=True)
class Links:
    """The links between devices: the latency of one message [s], the bandwidth of one device's port [bytes/s]."""

    latency_s: Range
    bandwidth: Range


@dataclass(frozen=True)
class Platform:
    """Nodes of some devices each."""

    name: str
    devices_per_node: int
    node: Links
    network: Links


def take_range(table: dict[str, Any], where: str, key: str, scale: float) -> Range:
    """``[low, high]``, both above zero."""
    found = table.get(key)
    ends = found if isinstance(found, list) else []
    if (
        len(ends) != 2
        or not all(isinstance(end, (int, float)) for end in ends)
        or not 0 < ends[0] <= ends[1]
    ):
        raise Broken(f"`{where}.{key}` takes [low, high], both above 0")
    return Range(ends[0] * scale, ends[1] * scale)


def take_links(platform: dict[str, Any], where: str) -> Links:
    """A table of links."""
    table = platform.get(where)
    if not isinstance(table, dict):
        raise Broken(f"has no table [{where}]")
    return Links(
        take_range(table, where, "latency_us", 1e-6),
        take_range(table, where, "bandwidth_GBps", 1e9),
    )


def read_platform(path: Path) -> Platform:
    """From a file as in bench/cluster/platforms; raises Broken, naming the file and key."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        count = found.get("devices_per_node")
        if not isinstance(count, int) or count < 1:
            raise Broken("`devices_per_node` takes a whole number from 1 on")
        name = found.get("name", path.stem)
        links = take_links(found, "node"), take_links(found, "network")
        return Platform(str(name), count, *links)
    except OSError as error:
        raise Broken(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:  # of TOML, of Unicode, or ours
        raise Broken(f"{path}: {error}") from error
