# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every model on one problem: the time of one compute, fastest first."""

from __future__ import annotations

from collections.abc import Iterator

from ..rows import Row
from ..units import seconds
from .figure import (
    Figure,
    by,
    cases_of,
    heaviest,
    problem,
    provenance,
    work_title,
)

FEWEST, TALLEST = 2, 28


def figures(rows: list[Row]) -> Iterator[Figure]:
    """One for each of the heaviest problems that two variants or more solve."""
    measured = [r for r in rows if r.case.algorithm != "ceilings" and r.case.devices == 1]
    groups = by(measured, problem).values()
    for group in heaviest(group for group in groups if len(best(group)) >= FEWEST):
        shown = best(group)
        first = shown[0]
        rest = f" The fastest {TALLEST} are shown." if len(shown) > TALLEST else ""
        shown = shown[:TALLEST]
        title = f"Every model: {work_title(group[0])}"
        yield Figure(
            kind="models",
            algorithm=first.case.algorithm,
            title=title,
            caption=f"Shorter is faster; the axis is logarithmic. {name(first, shown)} wins with "
            f"{seconds(first.median)}; {name(shown[-1], shown)} takes {shown[-1].median / first.median:.3g} times as long. "
            f"Each variant at its fastest launch, whiskers are 95 % intervals.{rest}",
            cases=cases_of(shown),
            draw=lambda shown=shown, title=title: draw(shown, title),
        )


def best(rows: list[Row]) -> list[Row]:
    """The fastest launch of each variant on each device, fastest first."""
    kept: dict[tuple, Row] = {}
    for row in sorted(rows, key=lambda row: row.median):
        case = row.case
        kept.setdefault((case.method, case.model, case.device_kind), row)
    return list(kept.values())


def name(row: Row, rows: list[Row]) -> str:
    """``fused / kokkos``, and on what where several kinds of device are compared."""
    case = row.case
    kinds = {other.case.device_kind for other in rows}
    where = {"host": "CPU", "gpu": "GPU"}[case.device_kind]
    return f"{case.method} / {case.model}" + (f", {where}" if len(kinds) > 1 else "")


def draw(rows: list[Row], title: str):
    """Horizontal bars on a logarithmic axis."""
    from matplotlib.patches import Patch

    from . import style

    figure, (panel,) = style.canvas(1.5 + 0.23 * len(rows))
    least = min(row.low or row.median for row in rows)
    most = max(row.high or row.median for row in rows)
    panel.set_xscale("log")
    panel.set_xlim(least / 1.6, most * (most / least * 10) ** 0.22)
    for place, row in enumerate(rows):
        look = style.look(row.case.model)
        bar = {"color": look.face, "edgecolor": look.colour, "hatch": look.hatch}
        panel.barh(place, row.median, height=0.66, linewidth=1.2, **bar)
        ends = [[row.median - (row.low or row.median)]]
        ends.append([(row.high or row.median) - row.median])
        whisker = {"color": style.INK, "linewidth": 0.9, "capsize": 2}
        panel.errorbar(row.median, place, xerr=ends, fmt="none", **whisker)
        end = (row.high or row.median) * (most / least) ** 0.012
        panel.text(end, place, f"  {seconds(row.median)}", va="center", fontsize=8)
    panel.set_yticks(range(len(rows)), [name(row, rows) for row in rows])
    panel.invert_yaxis()
    panel.grid(axis="y", visible=False)
    style.log_axis(panel.xaxis, style.time_text)
    panel.set_xlabel("time of one compute (log)")
    kinds = {style.kind_of(r.case.model): style.look(r.case.model) for r in rows}
    handles = [
        Patch(facecolor=k.face, edgecolor=k.colour, hatch=k.hatch, label=label)
        for label, k in kinds.items()
    ]
    style.legend(panel, handles)
    return style.finish(figure, title, provenance(cases_of(rows)))
