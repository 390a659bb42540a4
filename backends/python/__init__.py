# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers: the algorithms as users of Python libraries write them, one worker process per case."""
