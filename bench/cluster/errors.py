# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a submission is refused."""

from __future__ import annotations


class BadInput(ValueError):
    """A wrong argument, site file or environment: what, where, and what to do."""
