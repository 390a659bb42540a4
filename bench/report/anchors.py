# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Links to rows of the page: they stay as they are when the same study is measured again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

DIGITS = 8


def anchors(kind: str, identities: Iterable[str]) -> list[str]:
    """``case-1a2b3c4d`` for what a row shows; where several rows show the same, with its number."""
    taken: Counter[str] = Counter()
    found = []
    for identity in identities:
        name = f"{kind}-{sha256(identity.encode()).hexdigest()[:DIGITS]}"
        taken[name] += 1
        found.append(name if taken[name] == 1 else f"{name}-{taken[name]}")
    return found
