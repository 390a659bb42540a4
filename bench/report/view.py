# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table as text cells, which Markdown, terminal and page share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import detectable, end_to_end, metric_texts, units
from .bounds import CACHE, LATENCY, LINK
from .builds import all_contexts, short
from .builds import title as build_title
from .case import USUAL, Build, Case
from .ratios import Ratio
from .rows import Row
from .selection import work_title

ROOFLINE = "% of roofline"
RATIO = "portable / native"
ENERGY = "energy [95 %]"  # of one compute; shown where the study measured it
DETECTABLE = "detectable"  # the smallest difference that a verdict would find
METRICS = "metrics"  # all of them: a table with a column for each fits no page
COLUMNS = (
    "method",
    "execution",  # where it is not the default
    "model",
    "on",
    "launch",
    "median [95 %]",
    "latency",
    "rate",
    ENERGY,
    *end_to_end.COLUMNS.values(),
    ROOFLINE,
    RATIO,
    DETECTABLE,
    METRICS,
    "verdict",
    "note",
)
OPTIONAL = (ENERGY, *end_to_end.COLUMNS.values(), METRICS)  # shown where there are any
NUMBERS = COLUMNS[5:16]


@dataclass
class Group:
    """One comparison: a title, and for each row its cells by column."""

    title: str
    rows: list[dict[str, str]]


def drawn_samples(cases: Iterable[Case]) -> str:
    """``20 samples x 2 launches``; a range where the cases differ."""
    cases = list(cases)
    counts = sorted({len(s) for case in cases for s in case.launches.values()})
    launches = sorted({len(case.launches) for case in cases})
    if not counts:
        return "no samples"
    several = "-".join(str(n) for n in dict.fromkeys([counts[0], counts[-1]]))
    count_range = "-".join(str(n) for n in dict.fromkeys([launches[0], launches[-1]]))
    samples = f"{several} sample{'' if several == '1' else 's'}"
    return f"{samples} x {count_range} launch{'' if count_range == '1' else 'es'}"


def headline(cases: list[Case]) -> str:
    """Kokkos version, devices, git hash and date, in one line."""
    contexts = all_contexts(cases)
    used = [case.device_name for case in cases if case.status == "passed"]
    listed = [name for context in contexts for _, name, _ in context.devices]
    devices = sorted(filter(None, used)) or sorted(filter(None, listed))
    days = sorted({context.date[:10] for context in contexts if context.date})
    measured = [c for c in cases if c.samples and not c.tuning and not c.null]
    parts = (
        "Kokkos " + ", ".join(sorted({c.build.kokkos for c in contexts})),
        " and ".join(dict.fromkeys(devices)) or "no device",
        "git " + ", ".join(sorted({short(c.build.git) for c in contexts})),
        " to ".join(dict.fromkeys([days[0], days[-1]])) if days else "no date",
        drawn_samples(measured),
    )
    return "; ".join(parts)


def preflight(cases: list[Case]) -> list[str]:
    """The distinct preflight findings of the machines."""
    texts = (text for context in all_contexts(cases) for text in context.preflight)
    return list(dict.fromkeys(texts))


def roofline(row: Row) -> str:
    """``69 % (10 %)``: of the roofline bound of its unit, and of a better unit; else why there is none."""
    if row.limit == LATENCY:
        share = row.latency_share
        return "latency-bound" + (f", {units.per_cent(share)}" if share else "")
    if row.limit == LINK:
        return LINK
    if row.roofline_share is None:
        return ""
    own, best = row.roofline_share, row.best_floor_ratio
    better = [1 / best] if best and 1 / best < own else []
    text, *more = dict.fromkeys(map(units.per_cent, [own, *better]))
    return text + "".join(f" ({one})" for one in more)


def devices_of(rows: list[Row]) -> dict[str, set[str]]:
    """The names of the devices of each kind."""
    found: dict[str, set[str]] = {}
    for row in rows:
        if row.case.device_name:
            found.setdefault(row.case.device_kind, set()).add(row.case.device_name)
    return found


NONE = units.Figure("")


def time_figure(row: Row) -> units.Figure:
    """The median; empty without one."""
    return units.interval(row.median, row.low, row.high) if row.median else NONE


def energy_figure(row: Row) -> units.Figure:
    """The energy of one compute."""
    ends = (row.energy_low, row.energy_high)
    return units.joules(row.energy, *ends) if row.energy else NONE


def ratio_figure(ratio: Ratio | None) -> units.Figure:
    """Of times."""
    return units.ratio(ratio.value, ratio.low, ratio.high) if ratio else NONE


def cells(row: Row, devices: dict[str, set[str]]) -> dict[str, str]:
    """The cells of one row, in the order of COLUMNS; ``devices`` as of devices_of."""
    case = row.case
    several = len(devices.get(case.device_kind, ())) > 1
    latency = units.seconds(row.latency) if row.latency else ""
    texts = (
        case.method,
        "" if case.execution == USUAL else case.execution,
        case.model,
        case.device_name if several and case.device_name else case.device_kind,
        case.setting,
        str(time_figure(row)),
        latency,
        units.rate(row.rate, row.rate_unit),
        str(energy_figure(row)),
        *(
            str(units.interval(*row.end_to_end[way])) if way in row.end_to_end else ""
            for way in end_to_end.WAYS
        ),
        roofline(row),
        str(ratio_figure(row.ratio)),
        detectable.text(row.detectable),
        metric_texts.texts(case),
        row.verdict,
        "; ".join(filter(None, [row.reason, row.note])),
    )
    return {key: " ".join(text.split()) for key, text in zip(COLUMNS, texts)}


def groups(rows: list[Row]) -> list[Group]:
    """Rows by comparison, in the order of the rows."""
    devices = devices_of(rows)
    builds = list(dict.fromkeys(row.case.context.build for row in rows))
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        key = (row.case.comparison, row.case.context.build)
        found.setdefault(key, []).append(row)
    return [
        Group(title(group, builds), [cells(row, devices) for row in group])
        for group in found.values()
    ]


def title(group: list[Row], builds: list[Build]) -> str:
    """What all rows of a comparison have in common; ``builds``: of all comparisons."""
    case = group[0].case
    text = work_title(group[0])
    if case.devices > 1:
        text += f" on {case.devices} devices"
    if case.ranks > 1:
        text += f" of {case.ranks} ranks"
    if len(builds) > 1:
        text += f" ({build_title(case.context.build, builds)})"
    measured = {row.case.device_kind for row in group if row.median is not None}
    cached = {row.case.device_kind for row in group if row.limit == CACHE}
    where = "" if cached == measured else f" of the {' and '.join(sorted(cached))}"
    return text + (f", data in cache{where}" if cached else "")
