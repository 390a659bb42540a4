# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Metrics in tables, under their own names and units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from . import statistics, units
from .case import Case, Metric, Values
from .statistics import Estimate

BESIDE = ("case", "metric", "A", "B", "B / A")


def title(metric: Metric) -> str:
    """``l2 hit rate [%]``: what people read."""
    unit = f" [{metric.unit}]" if metric.unit else ""
    return metric.name.replace("_", " ") + unit


def column(metric: Metric) -> str:
    """``metric_l2_hit_rate_%``: the column for machines."""
    return "_".join(filter(None, ["metric", metric.name, metric.unit]))


def all_of(cases: Iterable[Case]) -> list[Metric]:
    """Every metric of some cases, in the order in which they come."""
    return list(dict.fromkeys(metric for case in cases for metric in case.metrics))


def values_of(launches: Values) -> list[float]:
    """The values of all launches."""
    return [value for values in launches.values() for value in values]


def estimate(metric: Metric, launches: Values) -> Estimate:
    """The median and its interval; of a metric that marks, how many values do."""
    values = values_of(launches)
    if metric.marks:
        return Estimate(sum(value != 0 for value in values))
    interval = statistics.median_interval(list(launches.values())) or (None, None)
    return Estimate(statistics.median(values), *interval)


def number(value: float) -> str:
    """``123,456``, ``0.1235``."""
    return units.exact(value) if value == int(value) else f"{value:.4g}"


def text(metric: Metric, launches: Values) -> str:
    """``1,980 [1,965, 1,995]``; of too few values their range; of a metric that marks ``5 of 20 samples``."""
    values, found = values_of(launches), estimate(metric, launches)
    if metric.marks:
        of = f"{len(values)} {metric.of}{'s' if len(values) > 1 else ''}"
        return f"{found.value:.0f} of {of}" if found.value else ""
    if found.low is not None and found.high is not None:
        return f"{number(found.value)} [{number(found.low)}, {number(found.high)}]"
    return " to ".join(dict.fromkeys(map(number, (min(values), max(values)))))


def texts(case: Case) -> str:
    """``l2 hit rate [%]: 61.2 [60.9, 61.4]; ...``, without those that mark nothing."""
    found = {title(one): text(one, values) for one, values in case.metrics.items()}
    return "; ".join(f"{name}: {cell}" for name, cell in found.items() if cell)


def figures(case: Case) -> dict[str, float | None]:
    """The same for machines: value, and the ends of its interval where there is one."""
    found: dict[str, float | None] = {}
    for metric, launches in case.metrics.items():
        one = estimate(metric, launches)
        found[column(metric)] = one.value
        if not metric.marks:
            found |= {
                f"{column(metric)}_low": one.low,
                f"{column(metric)}_high": one.high,
            }
    return found


@dataclass(frozen=True)
class Beside:
    """A metric of a case in two folders."""

    case: str
    metric: Metric
    a: Values
    b: Values

    @cached_property
    def ratio(self) -> Estimate | None:
        """B / A; None where one is not positive, or of a metric that marks."""
        every = [*values_of(self.a), *values_of(self.b)]
        if self.metric.marks or not (self.a and self.b) or min(every) <= 0:
            return None
        above, below = (list(values.values()) for values in (self.b, self.a))
        return statistics.independent_ratio(above, below)

    @property
    def cells(self) -> tuple[str, ...]:
        """The texts, by BESIDE."""
        sides = [text(self.metric, some) if some else "" for some in (self.a, self.b)]
        found = self.ratio
        ratio = str(units.ratio(found.value, found.low, found.high)) if found else ""
        return (self.case, title(self.metric), *sides, ratio)


def side_by_side(name: str, a: Case, b: Case) -> list[Beside]:
    """Every metric of two cases, except those that mark nothing in either."""
    found = [
        Beside(name, metric, a.metrics.get(metric, {}), b.metrics.get(metric, {}))
        for metric in all_of((a, b))
    ]
    return [one for one in found if any(one.cells[2:])]


def marked(cases: Iterable[Case]) -> list[str]:
    """``throttled by heat: 12 of 400 samples, in 3 of 20 cases``: of each metric that marks any."""
    cases, found = list(cases), []
    for metric in all_of(cases):
        some = [case.metrics[metric] for case in cases if metric in case.metrics]
        every = {str(i): values_of(values) for i, values in enumerate(some)}
        hit = sum(any(values) for values in every.values())
        if metric.marks and hit:
            cells = f"{text(metric, every)}, in {hit} of {len(some)} cases"
            found.append(f"{title(metric)}: {cells}")
    return found
