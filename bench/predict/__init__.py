# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Strong and weak scaling beyond the devices that were measured; see bench/cluster/prediction.md."""
