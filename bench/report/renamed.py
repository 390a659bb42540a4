# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Old names, of methods and of a model: records are read with the new ones.

The same table is in bench/study/renamed.cpp, for studies and tuned files. Methods got
new names when executions became an axis; peers kept theirs.
"""

from __future__ import annotations

import re

from .kinds import PEER, of_old

USUAL = "stream"
#: (algorithm, old method, model) -> method, execution; no model: all that are not named
RENAMED = {
    ("linear_regression", "graph", ""): ("block_reduce", "graph"),
    ("logistic_regression", "graph", ""): ("fused", "graph"),
    ("softmax_regression", "graph", ""): ("fused", "graph"),
    ("polynomial_fit", "graph", "kokkos"): ("stepwise", "kokkos_graph"),
    ("polynomial_fit", "graph", ""): ("stepwise", "graph"),
    ("polynomial_fit", "kokkos_graph", ""): ("stepwise", "kokkos_graph"),
    ("sum", "range_reduce", ""): ("flat", "stream"),
}
MODELS = {"kokkos_blocks": "kokkos_specialised"}
NAME = re.compile(
    r"(?P<algorithm>[^/]+)/method:(?P<method>[^/]+)/model:(?P<model>[^/]+)"
)


def modern_model(name: str) -> str:
    return MODELS.get(name, name)


def modern_reason(text: str) -> str:
    """A reason with the models' names of today."""
    for old, now in MODELS.items():
        text = text.replace(old, now)
    return text


def modern(algorithm: str, method: str, model: str) -> tuple[str, str] | None:
    """Method and execution of today; None where the method is no old one."""
    if of_old(model) == PEER:
        return None
    some = RENAMED.get((algorithm, method, model))
    return some or RENAMED.get((algorithm, method, ""))


def modern_name(name: str) -> str:
    """The name of a case as it is written today."""
    name = re.sub(r"(?<=/model:)[^/]+", lambda one: modern_model(one[0]), name)
    found = NAME.match(name)
    now = modern(**found.groupdict()) if found else None
    if found is None or now is None:
        return name
    head = f"{found['algorithm']}/method:{now[0]}/execution:{now[1]}"
    return f"{head}/model:{found['model']}{name[found.end() :]}"
