# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error of a campaign."""

from __future__ import annotations


class BadInput(ValueError):
    """A wrong argument, plan, executable or record: what, where, and what to do."""
