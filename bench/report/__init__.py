# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""From records to the league table: read, merge, compare, print.

``python3 -m bench.report DIR...`` is the command; README.md says how to read what
it writes. The data go through the modules in this order: fields, records, manifest,
merge, statistics, bounds, ratios, rows; the analyses (gaps, sweeps, crossovers, scaling,
launches, lines, portability, nulls, shapes: together, findings); view; then table, terminal, p3 and page.
"""
