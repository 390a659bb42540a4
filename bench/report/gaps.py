# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gap between portable code and the best there is, in its four factors.

tuning = t_kokkos(automatic launch) / t_kokkos(best launch); specialisation =
t_kokkos(best) / t_kokkos_blocks(best), 1 where there is no such variant; abstraction =
t_kokkos_blocks(best) (else t_kokkos) / t_native(best, same method); method and hardware =
t_native(best, same method) / t(best of all methods, libraries and peers). Their product
is the whole gap t_kokkos(automatic) / t(best of all): above 1, portable is slower.
A method that has kokkos_blocks alone is measured by that.

All times are medians over the program launches that these rows share, so that
the product holds exactly; without a shared launch, over all samples and without an
interval. The ratio of native and portable, for which these two need to be shared only, is
kept beside them, over more launches where others took part in fewer. The best of several is chosen by the same samples that are then compared: a
tuning or method factor of equally fast launches or methods is above 1 by their noise.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import exp, log

from . import units
from .case import Case
from .models import BLOCKS, NATIVE, PORTABLE, PORTABLE_LIBRARY, PORTABLES
from .ratios import estimate, judge, shared_launches
from .rows import Row
from .selection import (
    automatic,
    devices_text,
    engine,
    fastest,
    measured,
    place,
    problem,
)
from .statistics import MARGIN, Estimate


@dataclass(frozen=True)
class Gap:
    """The gap of one portable method on one problem and device.

    Rows and factors are None where nothing of that kind was measured. Without a second
    launch nothing is known of the tuning, and the whole gap is that of the one launch.
    """

    title: str  # algorithm, method, type, sizes
    algorithm: str
    variant: str  # the portable method
    dtype: str
    sizes: str
    device: str  # its name; of several also their number and unusual engine
    leads: bool  # the fastest portable method of this problem and device
    automatic: Row | None  # kokkos, launch chosen by the method
    portable: Row  # kokkos, best launch
    blocks: Row | None  # kokkos_blocks beside it, best launch
    native: Row | None  # raw native, same method, best launch
    best: Row | None  # native, library or peer, best of all
    ratio: Estimate | None  # native / portable, over all launches that these two share
    blocks_ratio: Estimate | None  # native / kokkos_blocks, likewise
    tuning: Estimate | None
    specialisation: Estimate | None
    abstraction: Estimate | None
    method: Estimate | None
    whole: Estimate | None


def gaps(rows: list[Row]) -> list[Gap]:
    """One gap for each problem, device and portable method, in the order of the rows."""
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in measured(rows):
        if row.case.algorithm != "ceilings":
            groups[(problem(row.case), place(row.case))].append(row)
    return [gap for group in groups.values() for gap in group_gaps(group)]


def group_gaps(group: list[Row]) -> list[Gap]:
    """The gaps of one problem on one device, method after method."""
    portable: dict[str, list[Row]] = defaultdict(list)
    for row in group:
        if row.case.model in PORTABLES:
            portable[row.case.method_text].append(row)
    both = (*PORTABLES, PORTABLE_LIBRARY)
    others = [row for row in group if row.case.model not in both]
    if not portable or not (others or max(map(len, portable.values())) > 1):
        return []
    leader = fastest(row for some in portable.values() for row in some)
    return [method_gap(some, others, leader) for some in portable.values()]


def method_gap(portable: list[Row], others: list[Row], leader: Row) -> Gap:
    """The gap of one portable method; ``others`` are all that are not portable."""
    pure = [row for row in portable if row.case.model == PORTABLE] or portable
    other = [row for row in portable if row.case.model == BLOCKS and row not in pure]
    best_portable = fastest(pure)
    blocks = fastest(other) if other else None
    case = best_portable.case
    chosen = [row for row in pure if automatic(row)]
    own = [
        row
        for row in others
        if row.case.way == case.way and row.case.model in NATIVE[case.device_kind]
    ]
    start = fastest(chosen) if chosen else None
    native = fastest(own) if own else None
    best = fastest(others) if others else None
    special = blocks or best_portable
    known = [row.case for row in (start, best_portable, special, native, best) if row]
    launches = shared_launches(*known)

    def factor(above: Row | None, below: Row | None) -> Estimate | None:
        if above is None or below is None:
            return None
        return estimate(above.case, below.case, launches)

    texts = (case.algorithm, case.method_text, case.dtype, best_portable.problem)
    return Gap(
        " ".join(filter(None, texts)),
        *texts,
        device=", ".join(filter(None, [devices_text(case), engine(case)])),
        leads=case.method_text == leader.case.method_text,
        automatic=start,
        portable=best_portable,
        blocks=blocks,
        native=native,
        best=best,
        ratio=ratio(native.case, case) if native else None,
        blocks_ratio=ratio(native.case, blocks.case) if native and blocks else None,
        tuning=factor(start, best_portable) if len(pure) > 1 else None,
        specialisation=factor(best_portable, special),
        abstraction=factor(special, native),
        method=factor(native, best),
        whole=factor(start, best),
    )


def ratio(native: Case, portable: Case) -> Estimate:
    """t_native / t_portable, each at its best launch."""
    return estimate(native, portable, shared_launches(native, portable))


def geometric_mean(values: list[float]) -> float:
    """exp(mean(log x)): the mean of ratios whose order of sides does not matter.

    Fleming and Wallace 1986, doi:10.1145/5666.5673. @pre at least one, all above zero
    """
    return exp(sum(map(log, values)) / len(values))


def certain(gap: Gap) -> bool:
    """Whether its factors have intervals: others enter no mean."""
    factors = (gap.abstraction, gap.method, gap.whole)
    return all(factor and factor.low is not None for factor in factors)


def texts(found: list[Gap]) -> list[str]:
    """One line an algorithm and device: geometric means over its leading methods."""
    groups: dict[tuple[str, str], list[Gap]] = defaultdict(list)
    for gap in found:
        if gap.leads and gap.whole and gap.method:
            groups[gap.algorithm, gap.device].append(gap)
    return [group_text(*key, group) for key, group in groups.items()]


def group_text(algorithm: str, device: str, group: list[Gap]) -> str:
    """``gap of knn, NVIDIA H200: 1.03 = abstraction 1.02 x method and hardware 1.01``."""
    sure = [gap for gap in group if certain(gap)]
    notes = means_notes(sure)
    if len(sure) < len(group):
        notes.append(left_out(len(group) - len(sure)))
    text = f"gap of {algorithm}, {device}: {means_text(sure) if sure else 'no mean'}"
    return text + (f" ({'; '.join(notes)})" if notes else "")


def left_out(count: int) -> str:
    """``2 problems without an interval left out``."""
    return f"{count} problem{'s' if count > 1 else ''} without an interval left out"


def means_text(group: list[Gap]) -> str:
    """``1.03 = abstraction 1.02 x method and hardware 1.01``."""
    factors: dict[str, list[Estimate | None]] = {
        "tuning": [gap.tuning or Estimate(1.0) for gap in group],
        "specialisation": [gap.specialisation for gap in group],
        "abstraction": [gap.abstraction for gap in group],
        "method and hardware": [gap.method for gap in group],
        "whole": [gap.whole for gap in group],
    }
    means = {
        name: geometric_mean([factor.value for factor in some if factor])
        for name, some in factors.items()
    }
    whole = means.pop("whole")
    if not any(gap.tuning for gap in group):
        del means["tuning"]
    if not any(gap.blocks for gap in group):
        del means["specialisation"]
    parts = " x ".join(f"{name} {value:.3f}" for name, value in means.items())
    return f"{whole:.3f} = {parts}"


def means_notes(group: list[Gap]) -> list[str]:
    """Of how many problems these are means, and the worst of them; of one nothing."""
    if len(group) < 2:
        return []
    wholes = [(gap.whole.value, gap) for gap in group if gap.whole]
    value, worst = max(wholes, key=lambda pair: pair[0])
    where = f"{worst.variant} {worst.dtype} {worst.sizes}"
    return [f"means of {len(group)} problems", f"largest {value:.3f}: {where}"]


COLUMNS = (
    *("problem", "device", "whole gap", "tuning", "specialisation"),
    *("abstraction", "method and hardware", "best"),
)


def cells(found: list[Gap]) -> list[tuple[str, ...]]:
    """The leading gap of each problem and device, a row of texts by COLUMNS."""
    return [
        (
            gap.title,
            gap.device,
            *map(factor_text, factors(gap)),
            f"{gap.best.case.model} {gap.best.case.method_text}" if gap.best else "",
        )
        for gap in found
        if gap.leads
    ]


def factors(gap: Gap) -> tuple[Estimate | None, ...]:
    """The whole and its factors, in the order of COLUMNS."""
    parts = (gap.tuning, gap.specialisation, gap.abstraction, gap.method)
    return (gap.whole, *parts)


def ratio_text(ratio: Estimate | None, of_blocks: Estimate | None = None) -> str:
    """``0.975 [0.974, 0.976] slower``, then that of kokkos_blocks; none without an interval."""
    both = {"": ratio, f"{BLOCKS} ": of_blocks}
    return "; ".join(
        f"{whose}{factor_text(one)} {judge(one, MARGIN)}"
        for whose, one in both.items()
        if one and one.low is not None
    )


def factor_text(factor: Estimate | None) -> str:
    """``1.026 [1.025, 1.027]``; a row over itself is 1."""
    if factor is None:
        return ""
    if factor == Estimate(1.0, 1.0, 1.0):
        return "1"
    return units.ratio(factor.value, factor.low, factor.high)
