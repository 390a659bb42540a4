# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Why written-once Kokkos is slower on a GPU: what compilers made of its kernel and of the native one, side by side.

Of each row the kernel with the most static instructions over all of its threads; where instructions are not known, with
the most registers. What a record names are launches; instructions are those of the build (lines.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from .case import Case
from .codes import Code, plain, short
from .defects import BEYOND, Twins, apart
from .gap_texts import factor_text
from .lines import NO_BUILDS, Build
from .rows import Row
from .schema import Kernel
from .selection import devices_text, measured, work_title
from .writing import ONCE, tier

NO_KERNELS = (
    f"where {ONCE} is more than {100 * (BEYOND - 1):.0f} % slower than native have no facts of their kernels: "
    "an older build measured them, `bench/run STUDY` records these facts"
)
NO_CODE = (
    "instructions by class: `python3 -m bench.lines build/{preset} --output lines.json`, "
    "with nvdisasm or llvm-objdump on PATH, then the report with `--lines lines.json`"
)


@dataclass(frozen=True)
class Side:
    """The kernel that stands for a row."""

    name: str
    facts: dict[str, object]
    instructions: dict[str, int]  # by class


def slower(rows: list[Row]) -> list[Twins]:
    """Written-once code that takes longer than native of its method on one GPU; the largest ratio first."""
    cases = ((row, row.case) for row in measured(rows))
    on_gpu = (row for row, c in cases if c.device_kind == "gpu" and c.devices == 1)
    return apart(on_gpu, lambda row: tier(row.case) == ONCE, native_is_slower=False)


def side(case: Case, builds: Mapping[str, Build]) -> Side | None:
    """None where the record names no kernel."""
    build = builds.get(case.context.build.preset)
    codes = build.codes(case) if build else {}

    def work(kernel: Kernel) -> tuple[int, int]:
        code = codes.get(plain(kernel.name))
        threads = kernel.count * prod(kernel.grid) * prod(kernel.block)
        count = sum(code.instructions.values()) if code else 0
        return threads * count, threads * kernel.registers

    if not case.kernels:
        return None
    kernel = max(case.kernels, key=work)
    name = plain(kernel.name)
    code = codes.get(name)
    return Side(
        short(name),
        facts_of(case, kernel, code),
        code.instructions if code else {},
    )


def facts_of(case: Case, kernel: Kernel, code: Code | None) -> dict[str, object]:
    """Of a launch, by name; what was spilled only the build tells."""
    facts = code.facts if code else {}
    blocks = prod(kernel.grid)
    resident = kernel.resident_blocks * case.context.processors(case.device_name)
    waves = {"waves": f"{blocks / resident:.2f}"} if resident else {}
    return {
        "registers": kernel.registers,
        **{name: value for name, value in facts.items() if "spilled" in name},
        "local bytes": kernel.local_bytes,
        "shared bytes": kernel.shared_bytes,
        "threads": prod(kernel.block),
        "blocks": blocks,
        **waves,
        "kernels": len(case.kernels),
    }


def texts(found: Iterable[Twins], builds: Mapping[str, Build] = NO_BUILDS) -> list[str]:
    """A line for each pair; those whose records name no kernels together."""
    lines = [text(pair, builds) for pair in found]
    without = sum(not line for line in lines)
    if without:
        pairs = f"{without} pairs" if without > 1 else "1 pair"
        lines.append(f"{pairs} {NO_KERNELS}")
    return list(filter(None, lines))


def text(pair: Twins, builds: Mapping[str, Build]) -> str:
    """``slower than cuda: knn f32 n=8, fused, NVIDIA H200, 1.120 at default launches: kokkos Rows | cuda fused: ...``."""
    cases = [row.case for row in (pair.portable, pair.native)]
    sides = [one for case in cases if (one := side(case, builds))]
    notes = "; ".join(dict.fromkeys(filter(None, (c.kernels_note for c in cases))))
    if len(sides) < len(cases) and not notes:
        return ""
    what = (
        f"{work_title(pair.portable)}, {cases[0].method_text}, {devices_text(cases[0])}"
    )
    head = f"slower than {cases[1].model}: {what}, {factor_text(pair.ratio)} at {pair.launch} launches"
    if len(sides) < len(cases):
        return f"{head}: {notes}"
    names = (f"{case.model} {one.name}" for case, one in zip(cases, sides))
    facts = told(*(one.facts for one in sides))
    classes = NO_CODE.format(preset=cases[0].context.build.preset)
    if all(one.instructions for one in sides):
        classes = counted(*(one.instructions for one in sides))
    return f"{head}: {' | '.join(names)}: {facts}; {classes}"


def told(*sides: Mapping[str, object], missing: str = "?") -> str:
    """``registers 40 | 26, shared bytes 8 | 0``."""
    names = dict.fromkeys(name for one in sides for name in one)
    return ", ".join(
        f"{name} {' | '.join(str(one.get(name, missing)) for one in sides)}"
        for name in names
    )


def counted(*sides: Mapping[str, int]) -> str:
    """``instructions 309 | 200: integer 300 | 200, control 9 | 0``: the commonest class first."""
    whole = told(*({"instructions": sum(one.values())} for one in sides))
    every = {
        name: sum(one.get(name, 0) for one in sides) for one in sides for name in one
    }
    names = sorted(every, key=lambda name: -every[name])
    return f"{whole}: {told(*({n: one.get(n, 0) for n in names} for one in sides))}"
