# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Brings records of older versions up to date: ``python3 -m bench.report.migrate DIR...``."""
