# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times as Slurm writes them: MM, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS."""

from __future__ import annotations

import math
import re

from .errors import BadInput

FORMS = re.compile(r"(?:(?P<d>\d+)-)?(?P<fields>\d+(?::\d+){0,2})")


def seconds(text: str) -> int:
    """The seconds of a duration; raises BadInput."""
    found = FORMS.fullmatch(text)
    if not found:
        raise BadInput(f"'{text}' is no time: as 30 (minutes), 1:30:00 or 1-12:00:00")
    fields = list(map(int, found["fields"].split(":")))
    if found["d"]:  # hours come first
        fields += [0] * (3 - len(fields))
    elif len(fields) == 1:
        fields = [0, fields[0], 0]
    elif len(fields) == 2:
        fields = [0, *fields]
    hours, minutes, rest = fields
    return int(found["d"] or 0) * 86400 + hours * 3600 + minutes * 60 + rest


def text(seconds: float) -> str:
    """``HH:MM:00``: Slurm counts whole minutes; rounded up, at least one."""
    minutes = max(1, math.ceil(seconds / 60))
    return f"{minutes // 60:02}:{minutes % 60:02}:00"
