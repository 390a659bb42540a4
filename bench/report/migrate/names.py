# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names of schema 1 that changed, of methods and of a model, and the kinds of its models.

The same table is in bench/study/renamed.cpp, for studies and tuned files. Methods got
new names when executions became an axis; peers kept theirs.
"""

from __future__ import annotations

import re
from typing import Any

from .. import kinds

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
KINDS = {  # others were peers
    "kokkos": kinds.PORTABLE,
    "kokkos_specialised": kinds.SPECIALISED,
    **dict.fromkeys(("cuda", "hip", "openmp"), kinds.NATIVE),
    "serial": kinds.REFERENCE,
    "kokkos_kernels": kinds.PORTABLE_LIBRARY,
    **dict.fromkeys(("cub", "cublas", "cudnn"), kinds.LIBRARY),
    **dict.fromkeys(("onednn", "rocblas", "rocprim"), kinds.LIBRARY),
}
NAME = re.compile(
    r"(?P<algorithm>[^/]+)/method:(?P<method>[^/]+)/model:(?P<model>[^/]+)"
)


def modern_model(name: str) -> str:
    return MODELS.get(name, name)


def kind(model: str) -> str:
    """The kind of a model, by its name of today."""
    return KINDS.get(model, kinds.PEER)


def modern_reason(text: str) -> str:
    """A reason with the models' names of today."""
    for old, now in MODELS.items():
        text = text.replace(old, now)
    return text


def modern(algorithm: str, method: str, model: str) -> tuple[str, str] | None:
    """Method and execution of today; None where the method is no old one."""
    if kind(model) == kinds.PEER:
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


def rename(row: dict[str, Any]) -> dict[str, Any]:
    """A row with the names of today, and with its execution and the kind of its model."""
    texts: dict[str, str] = {
        key: modern_name(row[key]) for key in ("name", "run_name") if key in row
    }
    for key in ("reason", "error_message"):
        if key in row:
            texts[key] = modern_reason(row[key])
    model, now = modern_model(row["model"]), (row["method"], row.get("execution"))
    now = modern(row["algorithm"], row["method"], model) or now
    found: dict[str, Any] = {}
    for key, value in row.items():
        if key not in ("execution", "kind"):
            found[key] = texts.get(key, value)
        if key == "method":
            found |= {"method": now[0], "execution": now[1] or "stream"}
        if key == "model":
            found |= {"model": model, "kind": row.get("kind", kind(model))}
    return found
