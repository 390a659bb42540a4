# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is to be run: one variant under one tool, on small problems that follow from its parameters."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]

# Of a problem's sizes in order, the last for all further ones; of its other integers; and a launch.
SHAPES = (
    ((1,), 1, ""),
    ((67, 3, 5), 3, ""),
    ((1031, 131, 33), 5, ""),
    ((1031, 131, 5), 2, "league = 2"),  # teams that take several work items each
    ((1031, 131, 5), 2, "tile = 512"),  # work items of several tiles
)
LARGE_ALONE = 5003  # in place of 1031, where a problem has one size
EDGE = 2**20  # a size that cannot exceed it is the edge of a square or cube
LARGE_EDGE = 131
HEAVY = 100  # a size that has larger values only makes rows heavy


@dataclass(frozen=True)
class Variant:
    """A row of `league list`, and the small problems for it as tables of a study."""

    name: str  # knn/fused/cuda
    method: str
    model: str
    algorithm: str
    dtypes: tuple[str, ...]
    needs_dataset: bool
    shapes: tuple[str, ...]
    executions: tuple[str, ...] = ("stream",)

    def study(self, devices: int) -> str:
        """All types, shapes and numbers of devices, each checked and sampled once."""
        lines = [
            f'algorithm = "{self.algorithm}"',
            f'methods = "{self.method}"',
            f'models = "{self.model}"',
            f"devices = {list(range(1, devices + 1))}",
            # a tool may run kernels one at a time
            'communicator = "local_serialized"',
            f"dtypes = {json.dumps(list(self.dtypes))}",
            "samples = 1",
            "null = false",
            'launches = "auto"',
        ]
        if self.executions != ("stream",):
            lines.append(f"execution = {json.dumps(list(self.executions))}")
        if self.needs_dataset:
            lines.append('dataset = "generated"')
        return "\n".join([*lines, *(f"[[cases]]\n{shape}" for shape in self.shapes)])

    def cases(self, devices: int) -> int:
        each = len(self.dtypes) * len(self.executions)
        return each * len(self.shapes) * devices


@dataclass(frozen=True)
class Unit:
    """One process: a variant under a tool. Equal keys: the same program on the same work."""

    variant: Variant
    tool: str
    devices: int
    program: str  # hashes and versions of what runs

    @property
    def name(self) -> str:
        return f"{self.variant.name.replace('/', '-')}-{self.tool}"

    @property
    def study(self) -> str:
        return self.variant.study(self.devices)

    @property
    def key(self) -> str:
        text = f"{self.program}\n{self.tool}\n{self.study}"
        return hashlib.sha256(text.encode()).hexdigest()


def within(value: int, parameter: Json) -> int:
    """The value, or what the parameter allows instead: an odd number where there is one."""
    least, most = max(int(parameter["min"]), 1), int(parameter["max"])
    if value > most:
        value = most - (most % 2 == 0)
    return max(value, least)


def edge_case(parameters: list[Json], values: dict[str, str]) -> str:
    """One of an algorithm's own small problems."""
    kinds = {one["name"]: one["kind"] for one in parameters}
    sizes = [f"{key} = {values[key]}" for key in values if kinds[key] == "size"]
    lines = [f"sizes = {{{', '.join(sizes)}}}"]
    for key, value in values.items():
        if kinds[key] != "size":
            quoted = json.dumps(value) if kinds[key] == "choice" else value
            lines.append(f"{key} = {quoted}")
    return "\n".join(lines)


def shapes_of(algorithm: Json) -> tuple[str, ...]:
    """Small problems of an algorithm: one value each, odd numbers, more than a block takes, several turns of a team.

    A size without small values makes rows heavy, as images for a network: its own edge cases
    then, which are few.
    """
    parameters = algorithm["parameters"]
    sizes = [one for one in parameters if one["kind"] == "size"]
    own = algorithm.get("edge_cases", [])
    if own and any(int(size["min"]) > HEAVY for size in sizes):
        return tuple(edge_case(parameters, values) for values in own)
    integers = [one for one in parameters if one["kind"] == "integer"]
    shapes: dict[str, None] = {}
    for values, count, launch in SHAPES:
        if len(sizes) == 1 and values[0] > 1000:
            values = (LARGE_EDGE if sizes[0]["max"] <= EDGE else LARGE_ALONE,)
        chosen = [
            f"{size['name']} = {within(values[min(i, len(values) - 1)], size)}"
            for i, size in enumerate(sizes)
        ]
        lines = [f"sizes = {{{', '.join(chosen)}}}"]
        for one in integers:  # a default of 0 stands for "by itself"
            default = int(one["default"])
            value = min(default, max(count, one["min"])) if default else 0
            lines.append(f"{one['name']} = {value}")
        if launch:
            lines.append(f"launches = {{{launch}}}")
        shapes["\n".join(lines)] = None
    return tuple(shapes)


def variants_of(listing: Json, devices: int = 1) -> Iterator[Variant]:
    """The variants that can run on so many GPUs here, of what `league list --json` says."""
    for algorithm in listing["algorithms"]:
        if algorithm.get("between_shards", False) and devices < 2:
            continue
        shapes = shapes_of(algorithm)
        for method in algorithm["methods"]:
            for model in method["models"]:
                if model["state"] != "ready" or model["device"] != "gpu":
                    continue
                yield Variant(
                    name=f"{algorithm['name']}/{method['name']}/{model['name']}",
                    method=method["name"],
                    model=model["name"],
                    algorithm=algorithm["name"],
                    dtypes=tuple(method["dtypes"]),
                    needs_dataset=algorithm["needs_dataset"],
                    shapes=shapes,
                    executions=tuple(model.get("executions", ["stream"])),
                )
