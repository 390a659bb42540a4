# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables for machines."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence


def figure(value: float | None) -> str:
    """A number for machines, whole ones exactly; an empty text for none."""
    if value is None:
        return ""
    return str(int(value)) if float(value).is_integer() else f"{value:.9g}"


def written(lines: Sequence[Mapping[str, object]], columns: Iterable[str]) -> str:
    """Lines of CSV: these columns, and behind them those that only some lines have."""
    text = io.StringIO()
    names = dict.fromkeys([*columns, *(key for line in lines for key in line)])
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue()
