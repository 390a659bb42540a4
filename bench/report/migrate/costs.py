# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Costs of records from before they were counted as today.

Until 2026-11-28 a record held three numbers: bytes, those of the method, and operations. Iterative problems counted
their data in every step, symmetry and the routing of gradients were not counted, and units did not depend on data.
What today's program writes for such a case follows from these numbers, its sizes and its parameters; a test runs
today's program on published problems and compares. The sources are the functions ``cost``, ``method_bytes``,
``method_operations`` and ``method_unit`` in ``algorithms/*/*.cpp``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..kinds import PEER

SIZES = {"u8": 1, "i32": 4, "f32": 4, "f64": 8}  # [bytes]
WRITTEN = {"copy": 1 / 2, "add": 1 / 3, "triad": 1 / 3}  # share of the bytes
WRITTEN |= dict.fromkeys(("write", "multiply_add", "tensor", "tensor_hopper"), 1.0)
KNN_UNITS = ("mma", "mma_large", "wgmma")
FEW_ROWS = 545  # of softmax: with more, `dual` has no room for them
EVERYWHERE = ("direct", "gemm", "layers", "tensor_dense")  # cnn: names start so
COUNTS = (
    *("bytes", "written_bytes", "method_bytes", "operations", "chain"),
    *("other_operations", "method_operations", "best_operations"),
)


@dataclass(frozen=True)
class Work:
    """What a row says of its work, by the names of today."""

    algorithm: str
    problem_name: str
    method: str
    kind: str
    dtype: str
    device_kind: str
    sizes: dict[str, Any]
    parameters: dict[str, Any]
    bytes: float
    operations: float
    method_bytes: float
    unit: str
    best_unit: str


def work(row: dict[str, Any], comparison: str) -> Work:
    """That of a row."""
    keys = ("algorithm", "method", "kind", "dtype", "device_kind", "sizes")
    problem = re.search(r"/problem:([^/]+)", comparison)
    cost = row.get("cost") or {}
    return Work(
        **{key: row[key] for key in keys},
        bytes=float(cost.get("bytes") or 0),
        operations=float(cost.get("operations") or 0),
        problem_name=problem[1] if problem else "",
        parameters=row.get("parameters") or {},
        method_bytes=float(cost.get("method_bytes") or 0),
        unit=row.get("unit") or row["dtype"],
        best_unit=row.get("best_unit") or "",
    )


def recount(row: dict[str, Any], comparison: str) -> dict[str, Any]:
    """The row with the cost and the units that are counted today; numbers that stay are kept as they are."""
    old = row.get("cost") or {}
    if "written_bytes" in old:
        return row
    found = today(work(row, comparison))
    cost = {key: found.get(key, old.get(key)) for key in COUNTS}
    kept = {k: old.get(k) if old.get(k) == v else v for k, v in cost.items()}
    units = {key: found[key] for key in ("unit", "best_unit") if found.get(key)}
    return row | {"cost": {k: v for k, v in kept.items() if v is not None}} | units


def today(case: Work) -> dict[str, Any]:
    """What of its cost is known to be counted so today."""
    plain = {
        "method_operations": case.operations,
        "best_operations": case.operations,
        "method_bytes": case.method_bytes or case.bytes,
    }
    change = CHANGES.get(case.algorithm)
    if change is None or not (case.bytes or case.operations):
        return plain
    keys = ("bytes", "operations", "unit", "best_unit")
    found = {key: getattr(case, key) for key in keys} | plain
    try:
        found |= change(case)
    except (KeyError, TypeError, ValueError, ArithmeticError):  # no sizes of ours
        return plain
    if case.kind == PEER:  # what it moves is not known
        found["method_bytes"] = found["bytes"]
    if case.device_kind == "host":  # has no units of matrices, and none for 16 bits
        found["best_operations"] = found["operations"]
        if found["best_unit"] in ("f16 tensor", "bf16 tensor"):
            found["best_unit"] = case.dtype
        found["unit"] = found["unit"].removesuffix(" tensor")
    return found


def steps_of(case: Work) -> float:
    """The steps that were asked for."""
    return max(1.0, float(case.parameters.get("steps", 1)))


def of_vector_add(case: Work) -> dict[str, Any]:
    """One array is written; of ``fill`` there is no other."""
    share = 1 if case.problem_name == "fill" else 1 / 3
    return {"written_bytes": case.bytes * share}


def of_ceilings(case: Work) -> dict[str, Any]:
    """By method; ``read`` and ``dot`` write next to nothing."""
    share = WRITTEN.get(case.method, 0.0)
    return {"written_bytes": case.bytes * share, "best_unit": case.unit}


def of_stencil(case: Work) -> dict[str, Any]:
    """Cells are read once and written once, not in each step."""
    once = case.bytes / steps_of(case)
    return {"bytes": once, "written_bytes": once / 2}


def of_distances(case: Work) -> dict[str, Any]:
    """Symmetric; f32 by units takes three products of f16."""
    n, size = case.sizes["n"], SIZES[case.dtype]
    units = case.method.startswith(("mma", "wgmma"))
    half = 2.0 * case.sizes["dimension"] * n * (n + 1) / 2
    products = 3 if case.dtype == "f32" else 1
    halved = case.method.endswith("symmetric") or case.method == "gram"
    whole = half if halved else case.operations
    return {
        "operations": half,
        "method_operations": whole * (products if units else 1),
        "best_operations": half * products,
        "best_unit": "f16 tensor" if case.dtype == "f32" else "f64 tensor",
        "written_bytes": float(n) * n * size,
    }


def of_knn(case: Work) -> dict[str, Any]:
    """Numbers that are no pixels are rounded to f16; the old best unit says which they are."""
    pixels = case.best_unit.startswith("u8")
    by_units = case.method in KNN_UNITS and case.kind != PEER
    return {
        "written_bytes": case.sizes["test"] * (4.0 + 16 * case.parameters["k"]),
        "unit": "f16 tensor" if by_units and not pixels else case.unit,
        "best_unit": case.best_unit if pixels else "f16 tensor",
    }


def of_descent(terms: int) -> Callable[[Work], dict[str, Any]]:
    """A descent on so many coefficients, and those of further features. One pass reads its points."""

    def change(case: Work) -> dict[str, Any]:
        if case.problem_name == "normal_equations":
            return {}
        steps = steps_of(case)
        once = case.bytes if case.method_bytes else case.bytes / steps
        chain = steps * (terms + case.sizes.get("features", 0) + 1)
        return {"bytes": once, "chain": chain}

    return change


def of_logistic(case: Work) -> dict[str, Any]:
    """Rows are read once; what cannot stay on the device is for the bound to say."""
    row = case.sizes["features"] * SIZES[case.dtype] + 1
    newton = case.problem_name == "newton"
    return {
        "bytes": float(case.sizes["rows"] * row),
        "best_unit": "f16 tensor" if newton else case.dtype,
    }


def of_softmax(case: Work) -> dict[str, Any]:
    """Rows are read once; units take three products for one of f32.

    Of few rows, the operations may be those of ``dual``, and are left as they are.
    """
    train, features = case.sizes["train"], case.sizes["features"]
    row = features * SIZES[case.dtype] + 4
    taken = min(train, steps_of(case) * (case.parameters.get("batch") or train))
    pixels = case.best_unit.startswith("u8")
    products = 3 if train > FEW_ROWS else 1
    mma = case.method == "mma" and case.kind != PEER
    return {
        "bytes": float(taken * row),
        "method_operations": case.operations * (products if mma else 1),
        "best_operations": case.operations * products,
        "unit": "tf32 tensor" if mma and not pixels else case.unit,
        "best_unit": case.best_unit if pixels else "f16 tensor",
    }


@dataclass(frozen=True)
class Layer:
    """A convolution of 3 x 3; ``side`` of an input plane."""

    inputs: int
    outputs: int
    side: int
    pools: bool

    @property
    def of_position(self) -> int:
        """Multiply-adds."""
        return 9 * self.inputs * self.outputs

    @property
    def windows(self) -> int:
        """Of an output plane, after the pool."""
        side = self.side - 2
        return (side // 2) ** 2 if self.pools else side**2


@dataclass(frozen=True)
class Network:
    """As in algorithms/cnn/networks.hpp."""

    layers: tuple[Layer, ...]
    flat: int
    hidden: int
    parameters: int
    drops: bool

    def multiply_adds(self, trains: bool, drops: bool) -> float:
        """Of an image, without what a pool and dropout skip."""
        kept, kept_hidden = (0.75, 0.5) if trains and drops and self.drops else (1, 1)
        total = 0.0
        for number, layer in enumerate(self.layers):
            share = kept if layer is self.layers[-1] else 1
            backward = 0 if not trains else 1 if number == 0 else 2
            places = 4 if layer.pools else 1
            total += layer.of_position * layer.windows * share * (places + backward)
        dense = kept_hidden * self.hidden * (kept * self.flat + 10)
        return total + (3 if trains else 1) * dense

    def everywhere(self, trains: bool) -> float:
        """Of an image, every position forwards and backwards."""
        first = self.layers[0]
        found = [one.of_position * (one.side - 2) ** 2 for one in self.layers]
        forward = sum(found) + self.hidden * (self.flat + 10)
        pixels = first.of_position * (first.side - 2) ** 2
        return 3.0 * forward - pixels if trains else forward


NETWORKS = {
    "mnist": Network(
        (Layer(1, 32, 28, False), Layer(32, 64, 26, True)), 9216, 128, 1_199_882, True
    ),
    "cifar10": Network(
        (Layer(3, 32, 32, True), Layer(32, 64, 15, True), Layer(64, 64, 6, False)),
        *(1024, 64, 122_570, False),
    ),
}


def of_cnn(case: Work) -> dict[str, Any]:
    """Weights are read and written once; gradients go through one position of a window."""
    given = case.parameters
    network = NETWORKS[given.get("network", "mnist")]
    trains = given.get("task", "train") == "train"
    whole = network.everywhere(trains)
    images = case.operations / (2 * whole)
    needed = 2 * images * network.multiply_adds(trains, given.get("dropout") != "off")
    states = 0 if given.get("optimizer") == "sgd" else 2
    written = (1 + states) * 4.0 * network.parameters if trains else 0.0
    taken = min(images, case.sizes["train"]) if trains else images
    read = written if trains else 4.0 * network.parameters
    dense = trains and case.method.startswith(EVERYWHERE)
    return {
        "bytes": read + written + taken * (case.sizes["features"] + 4),
        "written_bytes": written,
        "operations": needed,
        "best_operations": needed,
        "method_operations": case.operations if dense else needed,
        "best_unit": "bf16 tensor",
    }


CHANGES: dict[str, Callable[[Work], dict[str, Any]]] = {
    "vector_add": of_vector_add,
    "ceilings": of_ceilings,
    "stencil": of_stencil,
    "distance_matrix": of_distances,
    "knn": of_knn,
    "linear_regression": of_descent(1),
    "polynomial_fit": of_descent(4),
    "logistic_regression": of_logistic,
    "softmax_regression": of_softmax,
    "cnn": of_cnn,
}
