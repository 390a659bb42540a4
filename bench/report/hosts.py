# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two hosts are two machines, also where their devices have one name.

Samples of two hosts are never in one median: where a device of one name was measured on
several hosts, the host becomes a part of its name, and each has its own rows, peaks and
ratios. A host is its name and, where the system has one, the hash of its machine id.

Two exceptions. A row over several nodes measures a cluster, of which each launch may get
other nodes. With ``pool`` samples of GPUs of one name on several hosts are launches of one
row: its note says how far the medians of the hosts are apart, a ratio pairs what was
measured in one launch, and the interval of a median draws launches, and so hosts too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from statistics import median

from .case import Case, Context

Device = tuple[str, str]  # kind, name
Host = tuple[str, str]  # name, hash of the machine id


def host(context: Context) -> Host:
    """Equal for launches on one machine."""
    return context.host, context.machine


def apart(case: Case, pool: bool) -> Host | None:
    """What separates its samples from those of equal cases; None: nothing does."""
    unnamed = not case.device_name  # skipped before it got a device
    if unnamed or case.nodes > 1 or (pool and case.device_kind == "gpu"):
        return None
    return host(case.context)


def names(hosts: Iterable[Host]) -> dict[Host, str]:
    """A text for each: its name, and for machines of one name the hash too."""
    hosts = list(dict.fromkeys(hosts))
    called = [name for name, _ in hosts]
    return {
        (name, machine): " ".join(
            filter(None, [name, machine if called.count(name) > 1 else ""])
        )
        or "unknown"
        for name, machine in hosts
    }


def shared(cases: Iterable[Case], pool: bool) -> dict[Device, dict[Host, str]]:
    """The devices that several hosts have under one name, and the texts of the hosts."""
    found: dict[Device, dict[Host, None]] = defaultdict(dict)
    for case in cases:
        if (where := apart(case, pool)) is not None:
            found[case.device_kind, case.device_name][where] = None
    return {key: names(some) for key, some in found.items() if len(some) > 1}


def name_hosts(cases: Iterable[Case], pool: bool = False) -> None:
    """Gives such devices the name of their host, in the cases and in their contexts."""
    cases = list(cases)
    several = shared(cases, pool)
    if not several:
        return
    renamed: dict[int, Context] = {}

    def of(context: Context) -> Context:
        if id(context) not in renamed:
            where = host(context)
            devices = tuple(
                (kind, name + suffix(several.get((kind, name), {}).get(where, "")), llc)
                for kind, name, llc in context.devices
            )
            renamed[id(context)] = replace(context, devices=devices)
        return renamed[id(context)]

    for case in cases:
        texts = several.get((case.device_kind, case.device_name), {})
        if apart(case, pool) is not None:
            case.host = texts.get(host(case.context), "")
            case.device_name += suffix(case.host)
        case.context, case.contexts = of(case.context), [of(c) for c in case.contexts]


def suffix(text: str) -> str:
    """What follows the name of a device: ``AMD EPYC, 2 threads, host n1``."""
    return f", host {text}" if text else ""


def model_of(case: Case) -> str:
    """The name of its device without that of the host."""
    return case.device_name.removesuffix(suffix(case.host))


def medians(case: Case) -> dict[Host, float]:
    """The median [s] of each host that it was measured on."""
    found: dict[Host, list[float]] = defaultdict(list)
    for context in case.contexts:
        found[host(context)] += case.launches.get(context.launch_id, [])
    return {where: median(samples) for where, samples in found.items() if samples}


def spread(case: Case) -> float | None:
    """The slowest host's median over the fastest's, less 1; None of one host."""
    found = medians(case).values()
    return max(found) / min(found) - 1 if len(found) > 1 else None


def note(case: Case) -> str:
    """``2 hosts, medians 0.8 % apart``; empty for one host."""
    found = spread(case)
    if found is None:
        return ""
    return f"{len(medians(case))} hosts, medians {100 * found:.3g} % apart"


def texts(cases: Iterable[Case]) -> list[str]:
    """Which devices of one name are of several hosts, and what became of their samples."""
    own: dict[str, dict[str, None]] = defaultdict(dict)
    pooled: dict[str, dict[Host, None]] = defaultdict(dict)
    spreads: dict[str, list[float]] = defaultdict(list)
    for case in cases:
        if case.host:
            own[model_of(case)][case.host] = None
        if (found := spread(case)) is not None:
            pooled[case.device_name] |= dict.fromkeys(medians(case))
            spreads[case.device_name].append(found)
    lines = [
        f"{name}: of {len(some)} hosts ({', '.join(some)}), each with rows of its own"
        for name, some in own.items()
    ]
    for name, hosts in pooled.items():
        each = [100 * share for share in spreads[name]]
        lines.append(
            f"{name}: {len(each)} rows hold samples of several hosts ({', '.join(names(hosts).values())}), whose "
            f"medians are {median(each):.3g} % apart in half of these rows and {max(each):.3g} % in the worst"
        )
    return lines
