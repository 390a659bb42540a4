# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication calls of one compute of a case: from a trace of its steps, or by its algorithm."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench.report.case import Case
from bench.report.fields import Broken

BYTES = {"f32": 4, "f64": 8, "i32": 4, "i64": 8, "u8": 1}
PARTIAL = 4096 // 8  # values per byte of partial sums: the sum of 4096 is one double
ACTIONS = {
    "allreduce": "all_reduce",
    "reducescatter": "reduce_scatter",
    "allgather": "all_gather",
    "gather": "gather",
    "bcast": "broadcast",
    "isend": "exchange",
}


@dataclass(frozen=True)
class Call:
    """``count`` calls of a kind; bytes are the values added, or all pieces, or one halo."""

    kind: str
    bytes: float
    count: int


@dataclass(frozen=True)
class Trace:
    """The calls of ``league run --trace-steps``."""

    case: str  # its name
    shards: int
    calls: tuple[Call, ...]


def plain(name: str) -> str:
    """The name of a case without model, execution, devices, launch and engine, which do not affect its calls."""
    parts = name.split("/")
    aside = ("model:", "execution:", "devices:", "launch:", "communicator:")
    return "/".join(part for part in parts if not part.startswith(aside))


def read_trace(path: Path) -> Trace:
    """The calls of the first shard that has any; raises Broken."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Broken(f"{path}: cannot be read: {error}") from error
    named = re.search(r"^# case (.+)$", text, re.MULTILINE)
    if not named:
        raise Broken(f"{path}: no trace of League: it has no line '# case NAME'")
    counts: Counter[tuple[str, float]] = Counter()
    ranks = set()
    for line in text.splitlines():
        words = line.split()
        if not words or words[0] == "#":
            continue
        ranks.add(words[0])
        if words[0] == "0" and len(words) > 2 and words[1] in ACTIONS:
            counts[action(words, path)] += 1
    calls = []
    for (kind, size), count in counts.items():
        pieces = len(ranks) if kind in ("gather", "all_gather") else 1
        calls.append(Call(kind, size * pieces, count))
    return Trace(named.group(1), len(ranks), tuple(calls))


def action(words: list[str], path: Path) -> tuple[str, float]:
    """Kind and bytes of an action's line."""
    name = words[1]
    try:
        if name == "isend":
            return ACTIONS[name], float(words[4])
        if name == "reducescatter":
            return ACTIONS[name], sum(map(float, words[2:-2]))
        return ACTIONS[name], float(words[2])
    except (IndexError, ValueError) as error:
        raise Broken(f"{path}: no action: '{' '.join(words)}'") from error


def calls_of(case: Case, traces: list[Trace]) -> tuple[Call, ...]:
    """Of one compute. Raises Broken for an algorithm that needs a trace and has none."""
    for trace in traces:
        if plain(trace.case) == plain(case.name):
            return trace.calls
    return by_algorithm(case)


def by_algorithm(case: Case) -> tuple[Call, ...]:
    """Of League's own algorithms; bytes of a few values are not exact."""
    steps = int(case.parameters.get("steps", 1) or 1)
    features = int(case.sizes.get("features", 1))
    name = case.algorithm
    if name in ("vector_add", "distance_matrix", "knn", "ceilings", "polynomial_fit"):
        return ()
    if name in ("linear_regression", "logistic_regression"):
        return (Call("all_reduce", 8.0 * (features + 2), steps),)
    if name == "softmax_regression":  # gradients of ten classes, rows padded to 16
        return (Call("all_reduce", 4.0 * 10 * 16 * (features // 16 + 1) + 8, steps),)
    if name == "stencil":
        plane = BYTES.get(case.dtype, 4) * float(case.sizes.get("n", 1)) ** 2
        return (Call("exchange", plane, steps),)
    if name == "sum" and "from_host" not in case.comparison:
        return (Call("gather", float(case.sizes.get("n", 1)) / PARTIAL, 1),)
    if name == "sum":
        return ()
    raise Broken(
        f"{case.name}: what {name} exchanges is known from a trace only: "
        "give --trace FILE, from league run --trace-steps FILE"
    )
