# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The smallest difference that a verdict would find: what a row without one can hide.

The minimum detectable effect (Bloom 1995, "Minimum detectable effects"; Cohen 1988): the true
difference that a two-sided test at 5 % calls with a probability of 80 %. In logarithms the
ratio is taken as normal, with the standard error SE that its 95 % interval says (of samples,
launches and placements, as these were drawn). The verdict ``slower`` needs an interval above 1
that is not all within the margin m, so that

    delta = max(z SE, ln(1 + m) - z SE) + z' SE,    z = 1.96 (97.5 %), z' = 0.84 (80 %)

and the share is exp(delta) - 1. Of a row with a verdict the interval is that of its ratio. Of
another it is that of its median, and the ratio is to a second measurement as precise as it:
sqrt(2) times as wide.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import median

from .statistics import NORMAL, Estimate, standard_error

POWER = 0.8
POWER_NORMAL = 0.8416212335729143  # its quantile of the normal distribution


def smallest(error: float, margin: float) -> float:
    """The share; ``error``: the standard error of the logarithm of the ratio."""
    half = NORMAL * error
    return math.expm1(max(half, math.log1p(margin) - half) + POWER_NORMAL * error)


def of_ratio(ratio: Estimate | None, margin: float) -> float | None:
    """Of a ratio; None without an interval."""
    if ratio is None or ratio.low is None:
        return None
    return smallest(standard_error(ratio), margin)


def of_median(time: Estimate, margin: float) -> float | None:
    """Of a time [s] against another as precise; None without an interval."""
    if time.low is None:
        return None
    return smallest(math.sqrt(2) * standard_error(time), margin)


def text(found: float | None) -> str:
    """``1.3 %``; empty where there is none."""
    if found is None:
        return ""
    return f"{100 * found:.2g} %" if found < 1 else "over 100 %"


def texts(all_found: Iterable[float | None]) -> list[str]:
    """One line over all rows; none where no row has an interval."""
    known = sorted(one for one in all_found if one is not None)
    if not known:
        return []
    ends = " to ".join(dict.fromkeys((text(known[0]), text(known[-1]))))
    line = f"smallest detectable difference ({100 * POWER:.0f} % probability): {text(median(known))} in the median of "
    return [line + f"{len(known)} rows ({ends})"]
