# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What records hold beside the times, as metrics; no code here or behind it knows the name of one."""

from __future__ import annotations

from .case import Case, Metric, Values
from .fields import Broken
from .schema import Row

SAMPLE, LAUNCH = "sample", "launch"  # what a value is of


def read(row: Row, launch_id: str) -> dict[Metric, Values]:
    """The metrics of a row, its counts among them; raises Broken."""
    found: dict[Metric, Values] = {
        Metric(name, "", LAUNCH): {launch_id: [count]}
        for name, count in row.counts.items()
    }
    for one in row.metrics:
        if any(one.name == metric.name for metric in found):
            raise Broken(f"'metrics' has two of {one.name}")
        if one.of == SAMPLE and len(one.values) != len(row.samples):
            text = f"{len(one.values)} values of {len(row.samples)} samples"
            raise Broken(f"'metrics' holds {text} for {one.name}")
        metric = Metric(one.name, one.unit, one.of, one.marks)
        found[metric] = {launch_id: one.values}
    return {metric: values for metric, values in found.items() if any(values.values())}


def combine(first: Case, second: Case) -> None:
    """Adds the launches of the second case to the first."""
    for metric, values in second.metrics.items():
        first.metrics[metric] = {**first.metrics.get(metric, {}), **values}
