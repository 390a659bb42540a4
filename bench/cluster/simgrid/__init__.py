# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""League's traces of a step, replayed by SimGrid; see bench/cluster/prediction.md."""
