# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers whose inputs are copied to a device, and their results back: copies that can be made again and timed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from .peer import Peer

if TYPE_CHECKING:  # listing needs no library
    import numpy as np


class Kept(Protocol):
    """Arrays of the host that results go to."""

    def take(self, peer: DevicePeer, result: Any) -> Any:
        """One of them, or a new array, with the values of a result."""


def kind_of(array: Any) -> tuple[tuple[int, ...], str]:
    """Shape and NumPy's name of the type, of an array of any library."""
    return tuple(array.shape), str(array.dtype).removeprefix("torch.")


class Landing:
    """The outputs themselves: a result with the shape and type of one of them only is copied there."""

    def __init__(self, outputs: Iterable[np.ndarray]) -> None:
        self.missed = False  #: whether a result went to a new array
        self.places: dict[tuple[tuple[int, ...], str], np.ndarray | None] = {}
        for output in outputs:
            kind = kind_of(output)
            self.places[kind] = None if kind in self.places else output

    def take(self, peer: DevicePeer, result: Any) -> Any:
        place = self.places.pop(kind_of(result), None)
        if place is None:
            self.missed = True
            return peer.fetch(result)
        peer.fetch_into(place, result)
        return place


class DevicePeer(Peer):
    """A subclass wraps the copies of its library; a variant calls `to_device` and `to_host`."""

    #: Where results go; None: to new arrays.
    kept: Kept | None = None

    def to_device(self, array: np.ndarray) -> Any:
        """An input on the device, copied there once more by each pass that is timed end to end."""
        device = self.device_copy(array)
        self.placed.append((array, device))
        return device

    def to_host(self, result: Any) -> Any:
        """A result as a NumPy array."""
        if self.kept is None:
            return self.fetch(result)
        return self.kept.take(self, result)

    def device_copy(self, array: np.ndarray) -> Any:
        """A new array on the device with these values."""
        raise NotImplementedError

    def copy_in(self, to: Any, array: np.ndarray) -> None:
        """Copies into an array on the device."""
        raise NotImplementedError

    def fetch(self, result: Any) -> Any:
        """A new NumPy array with the values of a result."""
        raise NotImplementedError

    def fetch_into(self, array: np.ndarray, result: Any) -> None:
        """Copies a result into a NumPy array."""
        array[...] = self.fetch(result)

    def pinned(self, shape: tuple[int, ...], dtype: str) -> np.ndarray | None:
        """A new array in pinned memory; None where the library has none."""
        return None

    def lock_pages(self, pages: np.ndarray) -> bool:
        """Locks the pages of memory that is there, until no view of it is left; False where that cannot be."""
        return False

    def release(self) -> None:
        """Returns device memory that the library keeps for later arrays."""
