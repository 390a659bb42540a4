# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A campaign: studies, in several launches of the program, split into slices of a few minutes that may run on different hosts.

``python3 -m bench.campaign plan | run | status | collect``: see bench/results/README.md, Publish a table.
"""
