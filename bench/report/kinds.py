# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kinds of models, as records say them: ``ModelKind`` in backends/model.hpp."""

from __future__ import annotations

from typing import Literal

PORTABLE = "portable"  # one source for all kinds of devices
SPECIALISED = "specialised"  # the same, with bodies for an architecture
NATIVE = "native"  # written for one kind of device
REFERENCE = "reference"  # the same, for one thread
LIBRARY, PORTABLE_LIBRARY = "library", "portable_library"
PEER = "peer"  # Python, and kernels that are not in the tree
PORTABLES = (PORTABLE, SPECIALISED)
BY_HAND = (REFERENCE, *PORTABLES, NATIVE)  # written in this project
OF_DEVICE = (NATIVE, REFERENCE, LIBRARY)  # written for a device, or sold with it
Kind = Literal[
    "portable",
    "specialised",
    "native",
    "reference",
    "library",
    "portable_library",
    "peer",
]
