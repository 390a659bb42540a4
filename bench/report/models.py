# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kind of each model. Models that are not listed here are Python peers."""

from __future__ import annotations

PORTABLE = (
    "kokkos"  # Kokkos' API and nothing else; written once where its record says so
)
FLAT = "flat"  # the method of that model without teams: no team policy, no scratch
SPECIALISED = (
    "kokkos_specialised"  # the same over blocks that have bodies for an architecture
)
PORTABLES = (PORTABLE, SPECIALISED)
PORTABLE_LIBRARY = "kokkos_kernels"
NATIVE = {"gpu": ("cuda", "hip"), "host": ("openmp",)}  # written by hand for a device
REFERENCE = "serial"  # by hand too, for one thread
LIBRARIES = (
    *("cub", "cublas", "cudnn", "cusolver", "thrust"),
    *("hipblas", "hipcub", "rocblas", "rocprim"),
    *("blas", "mkl", "openblas"),
)
# In this order in tables.
COLUMNS = (REFERENCE, *NATIVE["host"], *PORTABLES, *NATIVE["gpu"])
BY_HAND = COLUMNS  # written in this project
OWN = (
    REFERENCE,
    *NATIVE["host"],
    *NATIVE["gpu"],
    *LIBRARIES,
)  # neither portable nor peer
COMPILED = (*OWN, *PORTABLES, PORTABLE_LIBRARY)  # all but the peers
