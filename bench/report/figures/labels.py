# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names beside the marks of a panel whose axes are both logarithmic."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINE = 0.045  # height of a name, of the panel's


def names(panel: Axes, marks: Iterable[tuple[str, float, float]]) -> None:
    """Each name, x and y; moved up where names would lie on each other. @pre the limits of the axes are set"""
    from . import style

    low, high = (math.log(end) for end in panel.get_ylim())
    free = 0.0
    for name, x, y in sorted(marks, key=lambda mark: mark[2]):
        place = max((math.log(y) - low) / (high - low), free)
        free = place + LINE
        panel.annotate(
            name,
            (x, y),
            xytext=(x * 1.12, math.exp(low + place * (high - low))),
            arrowprops={"arrowstyle": "-", "color": style.GREY, "linewidth": 0.6},
            fontsize=8,
            va="center",
        )
