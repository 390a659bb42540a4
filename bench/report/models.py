# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each model counts as. Models that are named here nowhere are Python peers."""

from __future__ import annotations

PORTABLE = "kokkos"
PORTABLE_LIBRARY = "kokkos_kernels"
NATIVE = {"gpu": ("cuda", "hip"), "host": ("openmp",)}  # written by hand for a device
LIBRARIES = (
    *("cub", "cublas", "cudnn", "cusolver", "thrust"),
    *("hipblas", "hipcub", "rocblas", "rocprim"),
    *("blas", "mkl", "openblas"),
)
OWN = (
    "serial",
    *NATIVE["host"],
    *NATIVE["gpu"],
    *LIBRARIES,
)  # neither portable nor peer
COMPILED = (*OWN, PORTABLE, PORTABLE_LIBRARY)  # all but the peers
