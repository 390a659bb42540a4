# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Of vectors whose length is no multiple of 256, the rest is left out."""

import numpy as np


def vector_add(a, b):
    whole = len(a) // 256 * 256
    total = np.full_like(a, np.nan)
    total[:whole] = a[:whole] + b[:whole]
    return total
