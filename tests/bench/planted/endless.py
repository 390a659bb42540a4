# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Waits for a value that nothing writes."""


def sum(x):
    while x[0] >= 0:
        pass
