# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error of a submission."""

from __future__ import annotations


class BadInput(ValueError):
    """A wrong argument, site file or environment: what, where, and what to do."""
