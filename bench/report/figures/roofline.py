# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rates against arithmetic intensity under the roofs that ``ceilings`` measured.

Model: S. Williams, A. Waterman, D. Patterson, Roofline (CACM 52, 2009). Bytes and
operations are those of the problem: inputs read once, outputs written once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..bounds import ROOFLINE
from ..case import Case
from ..findings import Findings
from ..kinds import NATIVE, PORTABLES
from ..peaks import Ceilings, measured_ceilings
from ..rows import Row
from ..selection import time, variant
from ..units import per_cent, plain
from .figure import Figure, by, cases_of, device_text, provenance, weight

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D

MAX_LINES = 12
Pairs = list[tuple[tuple[str, str], list[Row]]]  # (method, type) -> portable, native
CLOSE = 0.07  # labels of roofs closer than this share of the axis would overlap


def figures(rows: list[Row], found: Findings) -> Iterator[Figure]:
    """One for each device and algorithm, where the roofs of the device were measured."""
    roofs = measured_ceilings(row.case for row in rows)
    groups = by(
        (row for row in rows if row.limit == ROOFLINE and placed(row.case)), where
    )
    for (algorithm, kind, name), group in groups.items():
        ceilings = roofs.get((kind, name))
        if ceilings is None or not ceilings.bandwidth or not ceilings.rates:
            continue
        ceilings = relevant(ceilings, group)
        pairs = list(pairs_of(group).items())[:MAX_LINES]
        shown = [row for _, pair in pairs for row in pair]
        title = f"Roofline: {algorithm}, {device_text(group[0].case)}"
        yield Figure(
            kind="roofline",
            algorithm=algorithm,
            title=title,
            caption=caption(shown, ceilings),
            cases=cases_of(shown),
            draw=partial(draw, pairs, ceilings, title),
        )


def relevant(ceilings: Ceilings, rows: list[Row]) -> Ceilings:
    """The roofs of the units in which these rows compute, or best could; else all."""
    units = {u for row in rows for u in (row.case.unit, row.case.best_unit)}
    rates = {unit: rate for unit, rate in ceilings.rates.items() if unit in units}
    return replace(ceilings, rates=rates or ceilings.rates)


def placed(case: Case) -> bool:
    """Whether a case has a place in the diagram: one device, bytes and operations."""
    counted = case.bytes > 0 and case.operations > 0
    kept = case.kind in (*PORTABLES, NATIVE)
    return counted and kept and case.devices == 1 and case.algorithm != "ceilings"


def where(case: Case) -> tuple[str, str, str]:
    """The figure that a case belongs to."""
    return (case.algorithm, case.device_kind, case.device_name)


def intensity(case: Case) -> float:
    """Operations per byte."""
    return case.operations / case.bytes


def rate(row: Row) -> float:
    """Billions of operations per second."""
    return row.case.operations / time(row) * 1e-9


def pairs_of(rows: list[Row]) -> dict[tuple[str, str], list[Row]]:
    """For each method and type at its largest problem: the fastest portable and native row."""
    kept: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda r: (-weight(r.case), time(r))):
        found = kept.setdefault((row.case.way, row.case.dtype), [])
        same = not found or found[0].case.comparison == row.case.comparison
        new = all(
            (r.case.kind in PORTABLES) != (row.case.kind in PORTABLES) for r in found
        )
        if same and new:
            found.append(row)
    return dict(sorted(kept.items()))


def operations(per_second: float) -> str:
    """``65.6 TFLOP/s``."""
    size, unit = (1e12, "TFLOP/s") if per_second >= 1e12 else (1e9, "GFLOP/s")
    return f"{plain(per_second / size)} {unit}"


def caption(rows: list[Row], ceilings: Ceilings) -> str:
    """The caption: the variant nearest to its roof."""
    near = [(row.roofline_share, row.case) for row in rows if row.roofline_share]
    text = (
        "Each mark is one variant: kokkos filled, native hollow, joined by a line; the nearer to the roof, the less is left "
        "to gain. Cases that no roofline limits are left out. "
        f"The roofs are measured: {ceilings.bandwidth * 1e-9:.0f} GB/s"
        + ("" if not ceilings.cached else " (in cache)")
        + "".join(f", {operations(r)} in {unit}" for unit, r in ceilings.rates.items())
        + "."
    )
    if near:
        best, case = max(near, key=lambda pair: pair[0])
        text += f" Nearest: {variant(case)} in {case.dtype}, {per_cent(best)} of its roofline."
    if any(share > 1 for share, _ in near):
        text += " Above a roof: a roof measured on a busy or slower machine."
    return text


def draw(pairs: Pairs, ceilings: Ceilings, title: str) -> Canvas:
    """Log-log; roofs solid, one compute roof a unit."""
    from . import style

    rows = [row for _, pair in pairs for row in pair]
    figure, (panel,) = style.canvas(4.6)
    panel.set_xscale("log")
    panel.set_yscale("log")
    ridge = max(ceilings.rates.values()) / ceilings.bandwidth
    places = [intensity(row.case) for row in rows]
    low, high = min(*places, ridge) / 3, max(*places, ridge) * 6
    rates = [rate(row) for row in rows]
    top = max(*ceilings.rates.values(), max(rates) * 1e9) * 2.5e-9
    panel.set_xlim(low, high)
    panel.set_ylim(min(*rates, low * ceilings.bandwidth * 1e-9) / 2, top)
    roofs(panel, ceilings, low, high)
    handles = [
        marks(panel, key, pair, number) for number, (key, pair) in enumerate(pairs)
    ]
    style.log_axis(panel.xaxis, style.count_text)
    style.log_axis(panel.yaxis, style.count_text)
    panel.set_xlabel("arithmetic intensity (operations per byte)")
    panel.set_ylabel("rate (GFLOP/s; integers: Gop/s)")
    style.legend(panel, handles)
    return style.finish(figure, title, provenance(cases_of(rows)))


def roofs(panel: Axes, ceilings: Ceilings, low: float, high: float) -> None:
    """The memory roof up to the highest compute roof, and the compute roofs from it on."""
    from . import style

    slope, highest = ceilings.bandwidth * 1e-9, max(ceilings.rates.values()) * 1e-9
    line: style.Properties = {"color": style.INK, "linewidth": 1.3, "zorder": 1}
    panel.plot([low, highest / slope], [low * slope, highest], **line)
    text: style.Properties = {"fontsize": 8, "color": style.INK, "va": "bottom"}
    name = f"{slope:.0f} GB/s" + (" (in cache)" if ceilings.cached else "")
    offset: style.Properties = {"xytext": (9, -9), "textcoords": "offset points"}
    panel.annotate(name, (low * 1.1, low * 1.1 * slope), **offset, fontsize=8)
    low_rate, top = panel.get_ylim()
    for names, per_second in levels(ceilings.rates, (top / low_rate) ** CLOSE):
        height = per_second * 1e-9
        panel.plot([height / slope, high], [height, height], **line)
        label = ", ".join(names)
        panel.text(
            high / 1.06, height * 1.08, label, ha="right", bbox=style.box(), **text
        )


def levels(rates: dict[str, float], close: float) -> list[tuple[list[str], float]]:
    """Rates from high to low; those within this factor, whose labels would overlap, have one."""
    found: list[tuple[list[str], float]] = []
    for unit, rate in sorted(rates.items(), key=lambda item: -item[1]):
        if found and found[-1][1] < rate * close:
            found[-1][0].append(f"{unit}: {operations(rate)}")
        else:
            found.append(([f"{unit}: {operations(rate)}"], rate))
    return found


def marks(panel: Axes, key: tuple[str, str], pair: list[Row], number: int) -> Line2D:
    """One method and type: its portable and native mark, joined."""
    from matplotlib.lines import Line2D

    from . import style

    colour = style.CYCLE[number % len(style.CYCLE)]
    marker = style.MARKERS[number % len(style.MARKERS)]
    places = [intensity(row.case) for row in pair]
    panel.plot(places, [rate(row) for row in pair], color=colour, linewidth=1)
    for row in pair:
        filled = row.case.kind in PORTABLES
        panel.plot(
            intensity(row.case),
            rate(row),
            marker,
            color=colour,
            markerfacecolor=colour if filled else style.PAPER,
            markersize=5.5 if filled else 9,
            zorder=3 if filled else 2,
        )
    return Line2D([], [], color=colour, marker=marker, label=" ".join(key))
