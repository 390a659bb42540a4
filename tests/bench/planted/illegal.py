# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads at an address that is not its own."""

import ctypes


def sum(x):
    return ctypes.string_at(8)
