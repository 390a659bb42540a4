# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tests/sanitize_gpu: the variants of `league list` under NVIDIA's compute-sanitizer."""
