# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a case moves, and where its data are while it does."""

from __future__ import annotations

from .case import Case

CACHES = 4  # data below this many last-level caches count as cached
KIB = 1024
#: [bytes] registers, first-level cache and shared memory of a multiprocessor: NVIDIA's compute capability 8.0 to
#: 10.0 (CUDA C++ Programming Guide), and the most of other GPUs (AMD's CDNA 3: 512 + 32 + 64)
NVIDIA_PROCESSOR, OTHER_PROCESSOR = 512 * KIB, 608 * KIB
HOST_CACHES = 2  # all caches of a host are below this many last-level caches
AT_ONCE = {"normal_equations"}  # problems that are solved without steps
#: whose step needs all data and the result of the last; a linear descent can take all steps on moments of its
#: data, a stencil several steps on a tile
READ_EACH_STEP = {"logistic_regression", "softmax_regression"}


def crosses_links(case: Case) -> bool:
    """Whether its bytes are those that each GPU sends to others."""
    return case.algorithm == "collectives" and case.device_kind == "gpu"


def is_resident(case: Case) -> bool:
    """Whether its data lie in the memory of the device before it starts."""
    memory = case.parameters.get("memory", "device")
    return memory == "device" and case.problem_name != "from_host"


def steps(case: Case) -> int:
    """How many steps run one after the other: as many as the check counted, where a solve may stop early, else as asked for."""
    if case.problem_name in AT_ONCE:
        return 1
    count = case.figures.get("steps", case.parameters.get("steps", 1))
    return max(1, int(count)) if isinstance(count, int | float) else 1


def parts(case: Case) -> int:
    """Over how many memories its data are split; host devices share that of their machine."""
    return case.devices if case.device_kind == "gpu" else 1


def data_bytes(case: Case) -> float:
    """What each device reads and writes when a compute goes over its data once."""
    return case.bytes / parts(case)


def written_share(case: Case) -> float:
    """Of its bytes, those that are written."""
    share = case.written_bytes / case.bytes if case.bytes else 0.0
    return round(min(share, 1.0), 6)  # a third is a third


def in_cache(case: Case) -> bool:
    """Whether the data of each device may stay in its last-level cache."""
    if crosses_links(case):
        return False
    llc = case.context.llc_bytes(case.device_kind, case.device_name)
    return 0 < data_bytes(case) < CACHES * llc


def may_be_cached(case: Case) -> bool:
    """The same, and where the size of the cache is not known."""
    llc = case.context.llc_bytes(case.device_kind, case.device_name)
    return in_cache(case) or not llc


def on_chip(case: Case) -> float:
    """What each device can keep beside its memory: caches, registers, shared memory [bytes]; infinite where unknown."""
    llc = case.context.llc_bytes(case.device_kind, case.device_name)
    if case.device_kind == "host":
        return HOST_CACHES * llc or float("inf")
    count = case.context.processors(case.device_name)
    nvidia = case.device_name.startswith("NVIDIA")
    each = NVIDIA_PROCESSOR if nvidia else OTHER_PROCESSOR
    return llc + count * each if llc and count else float("inf")


def passes(case: Case) -> float:
    """How often a solve needs all of its data: once, or once a step, of mini-batches once an epoch."""
    if case.algorithm not in READ_EACH_STEP:
        return 1.0
    rows, batch = case.sizes.get("train", 0), case.parameters.get("batch", 0)
    share = batch / rows if rows and isinstance(batch, int) and 0 < batch < rows else 1
    return steps(case) * share


def packed_bytes(case: Case) -> float:
    """Its data as small as they can be kept: pixels as bytes."""
    pixels = case.algorithm == "softmax_regression" and case.best_unit.startswith("u8")
    if not pixels:
        return case.bytes
    rows, features = case.sizes.get("train", 0), case.sizes.get("features", 0)
    return min(case.bytes, float(rows * (features + 4)))


def needed_bytes(case: Case) -> float:
    """The least that a solve moves from and to memory: its data once, and in each further pass what cannot stay on the device."""
    spilled = max(0.0, packed_bytes(case) - parts(case) * on_chip(case))
    return case.bytes + max(0.0, passes(case) - 1) * spilled
