# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's peers on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .device_peer import DevicePeer
from .gpu import TorchPeer
from .peer import Device

if TYPE_CHECKING:  # listing needs no library
    import numpy as np


class OnCpu(TorchPeer):
    """Put before a peer on the GPU: the same operations on the CPU, with the threads of the device."""

    kind: ClassVar[str] = "host"
    warm_up: ClassVar[bool] = False
    held = False

    def opened(self, device: Device) -> Any:
        self.torch.set_num_threads(device.threads)
        return self.torch.device("cpu")

    def device_copy(self, array: np.ndarray) -> Any:
        return self.torch.from_numpy(array).clone()

    def pinned(self, shape: tuple[int, ...], dtype: str) -> Any:
        return None

    def release(self) -> None:
        pass

    def fence(self) -> None:
        pass

    def mark(self) -> Any:
        return DevicePeer.mark(self)

    def between(self, begin: Any, end: Any) -> float:
        return DevicePeer.between(self, begin, end)

    def time(self, count: int) -> float:
        return DevicePeer.time(self, count)
