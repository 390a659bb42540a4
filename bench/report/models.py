# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kind of each model. Models that are not listed here are Python peers."""

from __future__ import annotations

PORTABLE = "kokkos"  # Kokkos' API and nothing else
BLOCKS = "kokkos_blocks"  # the same over blocks that have bodies for an architecture
PORTABLES = (PORTABLE, BLOCKS)
PORTABLE_LIBRARY = "kokkos_kernels"
NATIVE = {"gpu": ("cuda", "hip"), "host": ("openmp",)}  # written by hand for a device
LIBRARIES = (
    *("cub", "cublas", "cudnn", "cusolver", "thrust"),
    *("hipblas", "hipcub", "rocblas", "rocprim"),
    *("blas", "mkl", "openblas"),
)
# In this order in tables.
COLUMNS = ("serial", *NATIVE["host"], *PORTABLES, *NATIVE["gpu"])
OWN = (
    "serial",
    *NATIVE["host"],
    *NATIVE["gpu"],
    *LIBRARIES,
)  # neither portable nor peer
COMPILED = (*OWN, *PORTABLES, PORTABLE_LIBRARY)  # all but the peers
