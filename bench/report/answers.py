# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the published records say: the questions that they were taken for, each answered by counts and a table.

Every variant counts with its best launch. Two models, or two methods, are compared on the problems that both have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from . import units
from .factors import geometric_mean, quickest
from .kinds import BY_HAND, NATIVE, PORTABLE, PORTABLES, SPECIALISED
from .methods import ONE_ARCHITECTURE, on_matrix_units
from .published_pages import methods, problems
from .rows import Row
from .selection import NO_ALGORITHMS, automatic, fastest, time, work_title
from .table import markdown_table
from .writing import FLAT, TIERS, tier

PARITY = 1.03  # times are called equal up to this ratio
SHOWN = 12  # lines of a table: the largest


@dataclass(frozen=True)
class Compared:
    """Two rows of one problem; the ratio of their times says how many times longer the first takes."""

    first: Row
    second: Row

    @property
    def ratio(self) -> float:
        """Time of the first over that of the second."""
        return time(self.first) / time(self.second)


def best_of(group: list[Row], kind: str) -> Row | None:
    """The fastest of this kind of model; None where it has none."""
    some = [row for row in group if row.case.kind == kind]
    return fastest(some) if some else None


def against_native(rows: list[Row], one: str) -> list[Compared]:
    """This tier of Kokkos' code over native, method by method."""
    found = []
    for group in methods(rows):
        portable = quickest(row for row in group if tier(row.case) == one)
        native = best_of(group, NATIVE)
        if portable and native:
            found.append(Compared(portable, native))
    return found


def blocks_against_pure(rows: list[Row]) -> list[Compared]:
    """Kokkos over the same method specialised."""
    both = (
        (best_of(group, PORTABLE), best_of(group, SPECIALISED))
        for group in methods(rows)
    )
    return [Compared(pure, blocks) for pure, blocks in both if pure and blocks]


def tuned(rows: list[Row]) -> list[Compared]:
    """The automatic launch of each variant of our own over its best, where another was searched for."""
    found = []
    for group in methods(rows):
        for model in dict.fromkeys(row.case.model for row in group):
            some = [row for row in group if row.case.model == model]
            chosen = [row for row in some if automatic(row)]
            if chosen and len(chosen) < len(some):
                found.append(Compared(fastest(chosen), fastest(some)))
    return found


def against_others(rows: list[Row]) -> list[Compared]:
    """Our fastest method over the fastest library or peer, by problem."""
    found = []
    for group in problems(rows):
        own = [row for row in group if row.case.kind in BY_HAND]
        others = [row for row in group if row.case.kind not in BY_HAND]
        if own and others:
            found.append(Compared(fastest(own), fastest(others)))
    return found


def name_of(row: Row) -> str:
    """``cuda fused 3.2 ms``."""
    return f"{row.case.model} {row.case.method_text} {units.seconds(time(row))}"


def table(found: list[Compared], heads: tuple[str, str, str]) -> str:
    """The largest ratios; nothing without any."""
    largest = sorted(found, key=lambda one: -one.ratio)[:SHOWN]
    if not largest:
        return ""
    lines = [
        (
            work_title(one.first),
            name_of(one.first),
            name_of(one.second),
            f"{one.ratio:.3f}",
        )
        for one in largest
    ]
    return markdown_table(("problem", *heads), lines)


def equal(found: list[Compared]) -> str:
    """``31 of 40``: the first takes no longer."""
    return f"{sum(one.ratio <= PARITY for one in found)} of {len(found)}"


def ended(text: str, shown: list[Compared], what: str = "The largest ratios") -> str:
    """The sentence, and what the table below it shows, if there is one."""
    return f"{text}. {what}:" if shown else f"{text}."


def of_native(rows: list[Row]) -> list[str]:
    """Where portable equals native."""
    by_tier = {one: against_native(rows, one) for one in TIERS if one != FLAT}
    told = [
        f"Kokkos, {one}, takes at most {percent(PARITY)} longer than native code of the same method in {equal(found)} methods and problems (median ratio {middle(found)})"
        for one, found in by_tier.items()
        if found
    ]
    if not told:
        return []
    text = "; ".join(told)
    beyond = [one for some in by_tier.values() for one in some if one.ratio > PARITY]
    return [
        ended(text, beyond),
        table(beyond, ("portable", "native", "portable / native")),
    ]


def of_blocks(rows: list[Row]) -> list[str]:
    """What specialised kernels add."""
    found = blocks_against_pure(rows)
    if not found:
        return []
    faster = [one for one in found if one.ratio > PARITY]
    text = f"Of {len(found)} methods that both have, {len(faster)} are over {percent(PARITY)} faster specialised"
    if faster:
        text += f", in the geometric mean {geometric_mean([one.ratio for one in faster]):.2f} times"
    text += f"; {sum(one.ratio < 1 / PARITY for one in found)} are slower"
    return [
        ended(text, faster),
        table(faster, ("kokkos", "kokkos_specialised", "kokkos / specialised")),
    ]


def of_units(rows: list[Row]) -> list[str]:
    """What matrix units bring, and what those of one architecture bring beyond."""
    lines = []
    for group in problems(rows):
        by_kind: dict[str, list[Row]] = defaultdict(list)
        for row in group:
            if row.case.kind in BY_HAND:
                by_kind[kind_of(row)].append(row)
        best = {kind: fastest(some) for kind, some in by_kind.items()}
        if "blocks" in best:
            kinds = ("plain", "blocks", "native", "device")
            lines.append(
                (
                    work_title(group[0]),
                    *(name_of(best[k]) if k in best else "" for k in kinds),
                )
            )
    if not lines:
        return []
    heads = (
        "problem",
        "without matrix units",
        "with them, kokkos_specialised",
        "native",
        f"native, {ONE_ARCHITECTURE}",
    )
    return ["The fastest method of each kind:", markdown_table(heads, lines)]


def kind_of(row: Row) -> str:
    """plain, or on matrix units: blocks, native, device (those of one architecture)."""
    if not on_matrix_units(row.case):
        return "plain"
    if ONE_ARCHITECTURE in row.case.method:
        return "device"
    return "blocks" if row.case.kind in PORTABLES else "native"


def of_others(rows: list[Row]) -> list[str]:
    """Where libraries and Python win."""
    found = against_others(rows)
    if not found:
        return []
    slower = [one for one in found if one.ratio > 1]
    text = f"A kernel of this project is the fastest in {len(found) - len(slower)} of {len(found)} problems that a library or a Python peer solves too; "
    text += f"the best of these takes {median(1 / one.ratio for one in found):.2f} times as long in the median"
    return [
        ended(text, slower, "They are ahead in"),
        table(slower, ("ours", "library or peer", "ours / theirs")),
    ]


def of_tuning(rows: list[Row]) -> list[str]:
    """What tuning brings."""
    found = tuned(rows)
    if not found:
        return []
    mean = geometric_mean([one.ratio for one in found])
    text = f"A search for the launch makes {len(found)} variants {percent(mean)} faster in the geometric mean, "
    text += f"{sum(one.ratio > 1.05 for one in found)} of them more than 5 %"
    gains = [one for one in found if one.ratio > PARITY]
    return [
        ended(text, gains, "The largest gains"),
        table(gains, ("automatic launch", "best launch", "automatic / best")),
    ]


def percent(ratio: float) -> str:
    """``3 %`` of 1.03."""
    return f"{100 * (ratio - 1):.2g} %"


def middle(found: list[Compared]) -> str:
    """The median ratio."""
    return f"{median(one.ratio for one in found):.3f}" if found else "none"


QUESTIONS: tuple[tuple[str, Callable[[list[Row]], list[str]]], ...] = (
    ("Where portable equals native", of_native),
    ("What specialised kernels add", of_blocks),
    ("What matrix units bring, with and without `wgmma`", of_units),
    ("Where libraries and Python win", of_others),
    ("What tuning brings", of_tuning),
)


def draw(rows: list[Row]) -> list[str]:
    """Paragraphs and tables, question by question; a question that the rows do not answer is left out."""
    asked = [row for row in rows if row.case.algorithm not in NO_ALGORITHMS]
    parts = []
    for title, answer in QUESTIONS:
        answered = [part for part in answer(asked) if part]
        if answered:
            parts += [f"**{title}.** {answered[0]}", *answered[1:]]
    return parts
