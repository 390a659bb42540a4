# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a function of the user's own computes each time that it is called (bench/README.md, your own kernel).

Inputs are altered in place, or earlier results poisoned, right before a compute that nothing else tells from
those that are timed; the digest of its results is compared with that of the same function on the same inputs
in a module imported anew, which has kept nothing.
"""

from __future__ import annotations

import contextlib
import gc
import math
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import numpy as np

from .digests import digest_of_all
from .kept import perf_counter, sleep

RUN = 64  #: values of an input that are altered, of the lowest level of a draw
PEEKS = 64  #: values of a result that are looked at again
BLOCK = 1 << 22  #: values compared at a time
TRIES = 16
REST_S = 5e-3
LARGEST_REST = 0.2  #: of the time of the computes, for other streams afterwards
SHORTEST_REST_S = 2e-4
CHANGING = "its results were still changing after the call had returned: work is deferred to another thread"
OTHER_STREAM = "work on another stream: it was not done when the current stream was"
ATTEMPTS = 10  #: a busy machine may make one wait as long for nothing

T = TypeVar("T")
Index = tuple[np.ndarray, ...]
Change = tuple[Any, Any, Any]  #: a view of an input, its values to be, and as they were


class Inspected(Protocol):
    """A function with its arguments (own.py)."""

    #: As the problem declares them, in the order of the results.
    outputs: list[np.ndarray]
    #: Inputs, and what it is called with.
    placed: list[tuple[np.ndarray, Any]]

    def compute(self) -> None: ...
    def compute_anew(self) -> None: ...
    def fence(self) -> None: ...
    def poison(self) -> None: ...
    def checked(self) -> list[Any]: ...
    def place(self, array: np.ndarray) -> Any: ...
    def fetch(self, result: Any) -> np.ndarray: ...
    def flat(self, array: Any) -> Any: ...
    def assign(self, view: Any, values: Any) -> None: ...
    def place_index(self, index: Index) -> Any: ...
    def peek(self, result: Any, index: Any) -> np.ndarray: ...
    def synchronize(self) -> None: ...


def chosen(values: np.ndarray, draw: int, number: int) -> tuple[int, int, int] | None:
    """Two places of an array and a count: values from the second to put at the first, where they differ.

    As many as algorithms/contract/altered.hpp says.
    """
    flat = values.reshape(-1)
    random = np.random.default_rng([draw, number])
    level = draw & 3
    most = (RUN << 4 * level) >> (0 if level else int(random.integers(7)))
    count = min(most, max(1, len(flat) // 4), len(flat) // 2)
    for _ in range(TRIES if count else 0):
        to, source = (int(p) for p in random.integers(0, len(flat) - count + 1, 2))
        if flat[to : to + count].tobytes() != flat[source : source + count].tobytes():
            return to, source, count
    return None


def some(values: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """At most PEEKS of them."""
    return random.choice(values, min(PEEKS, len(values)), replace=False)


def differing(
    one: np.ndarray, other: np.ndarray, random: np.random.Generator
) -> np.ndarray:
    """Some of the flat positions at which the bytes of two arrays of one kind differ."""
    bits = f"u{one.itemsize}"
    flat = [np.ascontiguousarray(a).reshape(-1).view(bits) for a in (one, other)]
    found = [np.empty(0, np.int64)]
    for begin in range(0, one.size, BLOCK):
        mine, theirs = (a[begin : begin + BLOCK] for a in flat)
        found.append(begin + some(np.flatnonzero(mine != theirs), random))
    return some(np.concatenate(found), random)


class Inspector:
    """Inspects one function."""

    def __init__(self, peer: Inspected) -> None:
        self.peer = peer
        #: Of each draw, for each result: flat positions at which it is known to differ.
        self.differing: dict[int, list[np.ndarray]] = {}

    def digest(self) -> int:
        """Of the results of the last compute. Raises what `checked` raises."""
        return digest_of_all(self.peer.fetch(r) for r in self.peer.checked())

    def inspect(self, before: int, draw: int) -> int | None:
        """The digest after one compute, as `SelfTimed::inspect` says (bench/measure/self_timed.hpp).

        None if no input has two places that differ. Raises RuntimeError if work is deferred.
        """
        return rested(lambda: self.inspected(before, draw))

    def inspected(self, before: int, draw: int) -> int | None:
        """As `inspect`. Raises OtherStreamError where the device may not have been at rest."""
        changes = self.changes(draw)
        if draw and not changes:
            return None
        try:
            if before == 0:
                return self.reference(draw, changes)
            return self.computed(before, draw, changes)
        finally:
            for view, _, former in changes:
                self.peer.assign(view, former)
            self.peer.fence()

    def changes(self, draw: int) -> list[Change]:
        """What alters the inputs, on the device."""
        changes = []
        for number, (values, array) in enumerate(self.peer.placed if draw else ()):
            places = chosen(values, draw, number)
            if places is None:
                continue
            to, source, count = places
            flat = values.reshape(-1)
            view = self.peer.flat(array)[to : to + count]
            new, former = flat[source : source + count], flat[to : to + count]
            changes.append((view, self.peer.place(new), self.peer.place(former)))
        self.peer.fence()
        return changes

    def alter(self, changes: list[Change]) -> None:
        for view, new, _ in changes:
            self.peer.assign(view, new)

    def reference(self, draw: int, changes: list[Change]) -> int:
        """Of one compute from poisoned outputs; of altered inputs by a module that has kept nothing."""
        peer = self.peer
        peer.poison()
        if not draw:
            peer.compute()
            peer.fence()
            return self.digest()
        peer.compute()
        peer.fence()
        # A copy: the function may write to the same array again.
        unaltered = [np.array(peer.fetch(r)) for r in peer.checked()]
        self.alter(changes)
        peer.compute_anew()
        peer.fence()
        results = [peer.fetch(r) for r in peer.checked()]
        random = np.random.default_rng(draw)
        pairs = zip(unaltered, results, strict=True)
        self.differing[draw] = [differing(u, r, random) for u, r in pairs]
        return digest_of_all(results)

    def paces(self, draw: int, pairs: int) -> tuple[float, float]:
        """The shortest of some computes [s]: on the inputs of the one before, and on inputs altered just before."""
        peer, same, altered = self.peer, math.inf, math.inf
        every = []

        def pace() -> float:
            begin = perf_counter()
            peer.compute()
            peer.fence()
            return perf_counter() - begin

        pace()
        for number in range(pairs):
            same = min(same, pace())
            every.append(self.changes(draw + 4 * number))
            self.alter(every[-1])
            peer.fence()
            altered = min(altered, pace())
        for changes in reversed(every):
            for view, _, former in changes:
                peer.assign(view, former)
        peer.fence()
        return same, altered

    def computed(self, before: int, draw: int, changes: list[Change]) -> int:
        """Of the compute after ``before`` others, without a pause."""
        peer = self.peer
        indices = self.indices(draw)
        peer.compute()
        peer.fence()
        gc.disable()
        try:
            begin = perf_counter()
            for _ in range(before):
                peer.compute()
            if draw:
                self.alter(changes)
            else:
                peer.poison()
            peer.compute()
            peer.fence()
            busy_s = perf_counter() - begin
            results = peer.checked()
            seen = [peer.peek(r, i) for r, i in zip(results, indices, strict=True)]
            require_rest(peer, busy_s)
        finally:
            gc.enable()
        digest = self.digest()
        sleep(REST_S)
        for result, index, then in zip(results, indices, seen, strict=True):
            if peer.peek(result, index).tobytes() != then.tobytes():
                raise RuntimeError(CHANGING)
        return digest

    def indices(self, draw: int) -> list[Any]:
        """Where to look at each result: where the draw is known to change it, and anywhere."""
        random = np.random.default_rng()
        shapes = [output.shape for output in self.peer.outputs]
        known = self.differing.get(draw, [np.empty(0, np.int64)] * len(shapes))
        indices = []
        for shape, positions in zip(shapes, known, strict=True):
            size = math.prod(shape)
            more = random.integers(0, max(1, size), min(PEEKS, size))
            flat = np.concatenate([positions, more])
            indices.append(self.peer.place_index(np.unravel_index(flat, shape)))
        return indices


class OtherStreamError(RuntimeError):
    """A device was not at rest."""


def rested(call: Callable[[], T]) -> T:
    """The result of a call, made again while it raises OtherStreamError. Raises it if the last one does."""
    for _ in range(ATTEMPTS - 1):
        with contextlib.suppress(OtherStreamError):
            return call()
    return call()


def require_rest(peer: Inspected, busy_s: float) -> None:
    """Raises OtherStreamError if the device works on, for longer than a small part of what it has taken."""
    begin = perf_counter()
    peer.synchronize()
    if perf_counter() - begin > max(LARGEST_REST * busy_s, SHORTEST_REST_S):
        raise OtherStreamError(OTHER_STREAM)
