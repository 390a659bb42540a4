# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gap between portable code and the best there is, in its three factors.

tuning = t_kokkos(automatic launch) / t_kokkos(best launch); abstraction =
t_kokkos(best) / t_native(best, same method); method and hardware =
t_native(best, same method) / t_native(best of all methods and libraries). Their product
is the whole gap t_kokkos(automatic) / t_native(best of all): above 1, portable is slower.
"""

from __future__ import annotations

from dataclasses import dataclass

from .rows import Row
from .statistics import Estimate


@dataclass(frozen=True)
class Gap:
    """The gap of one portable method on one problem and device.

    Rows and factors are None where nothing of that kind was measured.
    """

    title: str  # algorithm, method, type, sizes
    algorithm: str
    variant: str  # the portable method
    dtype: str
    sizes: str
    device: str  # its name
    leads: bool  # the fastest portable method of this problem and device
    automatic: Row | None  # kokkos, launch chosen by the method
    portable: Row  # kokkos, best launch
    native: Row | None  # raw native, same method, best launch
    best: Row | None  # native or library, best of all
    tuning: Estimate | None
    abstraction: Estimate | None
    method: Estimate | None
    whole: Estimate | None


def gaps(rows: list[Row]) -> list[Gap]:
    """One gap for each problem, device and portable method, in the order of the rows."""
    return []
