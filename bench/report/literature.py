# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The best that others have published for a device, from literature.json, and what Kokkos' tiers reach of it.

A published time is of another size and type, so that rates are compared: bytes of the problem per second, of arrays in
the memory of the device that no cache holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from .case import Case
from .gaps import Gap
from .rows import Row
from .selection import time, variant
from .traffic import in_cache

FILE = Path(__file__).with_name("literature.json")


class Published(Struct, frozen=True):
    """A measurement by others."""

    device: str
    algorithm: str
    what: str
    bytes: float
    seconds: float
    source: str

    @property
    def rate(self) -> float:
        """Bytes per second."""
        return self.bytes / self.seconds


@cache
def literature() -> tuple[Published, ...]:
    """All that the file has."""
    return msgspec.json.decode(FILE.read_bytes(), type=tuple[Published, ...])


def best_published(case: Case) -> Published | None:
    """The highest rate for the usual problem of the case's algorithm on its device."""
    alike = (case.device_name, case.algorithm)
    usual = case.devices == 1 and not case.problem_name and not in_cache(case)
    if not usual or case.parameters.get("memory", "device") != "device":
        return None
    some = [one for one in literature() if (one.device, one.algorithm) == alike]
    return max(some, key=lambda one: one.rate, default=None)


def texts(gaps: Iterable[Gap]) -> list[str]:
    """One line for each problem of which somebody published a rate."""
    lines = []
    for gap in gaps:
        if published := best_published(gap.row.case):
            rows = {**gap.tiers, "native": gap.fastest_native}
            told = [
                shares(name, row, gap.best, published)
                for name, row in rows.items()
                if row
            ]
            lines.append(
                f"{gap.title}, {gap.device}, of the best published ({published.rate / 1e12:.3g} TB/s: {published.what}, "
                f"{published.source}), and of the best in this table ({variant(gap.best.case)}): {'; '.join(told)}"
            )
    return lines


def shares(name: str, row: Row, best: Row, published: Published) -> str:
    """``native 1.002, 0.990``: above 1, faster than what was published."""
    rate = row.case.bytes / time(row)
    return f"{name} {rate / published.rate:.3f}, {time(best) / time(row):.3f}"
