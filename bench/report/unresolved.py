# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How many ratios of portable and native are unresolved, and what narrows their intervals."""

from __future__ import annotations

from collections.abc import Iterable

from .gaps import Gap
from .ratios import judge


def texts(gaps: Iterable[Gap], margin: float) -> list[str]:
    """One line; none where every ratio has a verdict, or no ratio has an interval."""
    ratios = [one for gap in gaps for one in (gap.ratio, gap.special_ratio) if one]
    verdicts = [judge(ratio, margin) for ratio in ratios]
    judged = [verdict for verdict in verdicts if verdict]
    count = judged.count("unresolved")
    if not count:
        return []
    text = (
        f"unresolved: {count} of {len(judged)} ratios of portable and native; their intervals hold 1 and are wider "
        f"than {100 * margin:.3g} % of it to a side. What narrows them: a machine that runs nothing else, longer "
        "sampling (--set samples=auto --set time_limit=10), several launches of the program (--repeat 5)"
    )
    return [text]
