# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the unit and the name of a method tell: whether Kokkos' API can say it, and its precision class."""

from __future__ import annotations

from .case import Case

UNIT = "tensor"  # in the recorded unit of a method on matrix units
UNITS = ("mma", UNIT)  # in its name
CLUSTER = "cluster"  # in the name of a method whose blocks work in clusters
ONE_ARCHITECTURE = "wgmma"  # matrix units of one architecture
ROUNDED = ("tf32", "bf16")  # at the end of a name: products in this type, a wider bound


def on_matrix_units(case: Case) -> bool:
    """By the recorded unit, or by the name where an old record has the unit of the problem."""
    return UNIT in case.unit or any(word in case.method for word in UNITS)


def beyond_api(case: Case) -> bool:
    """Whether the method takes what Kokkos' API cannot say: matrix units, clusters of blocks."""
    return on_matrix_units(case) or CLUSTER in case.method


def precision(case: Case) -> str:
    """The precision class: equal for methods of one problem that are held to one bound of the error.

    The type, and where a method is held to the bound of a narrower one (``layers_tf32``),
    that type. A method whose narrow products are exact (k-NN of bytes on ``u8 tensor``)
    is held to the bound of all others.
    """
    ends = [one for one in ROUNDED if case.method.endswith(f"_{one}")]
    return ends[0] if ends else case.dtype
