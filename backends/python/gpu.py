# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers on a GPU: timed between two events on the stream, which is held back until the whole batch is submitted."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from .device_peer import DevicePeer
from .peer import Arrays, Device, Parameters, Unsupported

if TYPE_CHECKING:  # listing needs no library
    import numpy as np

SHORTEST_HOLD_S = 1e-3
LONGEST_HOLD_S = 0.3


class GpuPeer(DevicePeer):
    """A library's stream is wrapped by five methods; `time` is the same for all."""

    kind: ClassVar[str] = "gpu"
    #: Whether the stream is held back while a batch is submitted, and for how long.
    held: bool = True
    hold_s: float = SHORTEST_HOLD_S

    @abstractmethod
    def hold(self, seconds: float) -> None:
        """Submits a kernel that spins for about that long."""

    @abstractmethod
    def mark(self) -> Any:
        """Records a timing event."""

    @abstractmethod
    def reached(self, mark: Any) -> bool:
        """Whether the event has completed; non-blocking."""

    @abstractmethod
    def between(self, begin: Any, end: Any) -> float:
        """Seconds between two completed events."""

    def page_lock(self, address: int, size: int) -> Callable[[int], object]:
        """Locks pages of the host's memory. Returns what unlocks them by their address."""
        raise NotImplementedError

    def pinned(self, shape: tuple[int, ...], dtype: str) -> np.ndarray:
        from . import pinned

        return pinned.array(shape, dtype, self.page_lock)

    def lock_pages(self, pages: np.ndarray) -> bool:
        from . import pinned

        try:
            pinned.lock_pages(pages, self.page_lock)
        except Exception:  # noqa: BLE001  each library has its own
            return False
        return True

    def hold_back(self) -> None:
        if self.held:
            self.hold(self.hold_s)

    def time(self, count: int) -> float:
        """Device time. A hold that ended before the whole batch was submitted is retried with a longer
        one; a compute that itself waits for the stream is timed without a hold."""
        while True:
            self.fence()
            if self.held:
                self.hold(self.hold_s)
            begin = self.mark()
            for _ in range(count):
                self.compute()
            end = self.mark()
            whole = not self.held or not self.reached(begin)
            self.fence()
            if whole:
                return self.between(begin, end) / count
            self.hold_s *= 4
            self.held = self.hold_s <= LONGEST_HOLD_S


class TorchPeer(GpuPeer):
    """On PyTorch's current stream. Products of f32 are in full precision unless the peer sets otherwise."""

    def __init__(self, inputs: Arrays, parameters: Parameters, device: Device) -> None:
        super().__init__(inputs, parameters, device)
        import torch

        self.torch = torch
        self.cuda = self.opened(device)
        torch.set_float32_matmul_precision("highest")
        torch.set_grad_enabled(False)

    def opened(self, device: Device) -> Any:
        """The library's device of all tensors, within the memory budget of the case."""
        cuda = self.torch.cuda
        opened = self.torch.device("cuda", device.index)
        cuda.set_device(opened)
        if device.memory_bytes:
            total = cuda.get_device_properties(opened).total_memory
            cuda.set_per_process_memory_fraction(min(1.0, device.memory_bytes / total))
        return opened

    def device_copy(self, array: np.ndarray) -> Any:
        return self.torch.from_numpy(array).to(self.cuda)

    def copy_in(self, to: Any, array: np.ndarray) -> None:
        to.copy_(self.torch.from_numpy(array))

    def fetch(self, result: Any) -> Any:
        return result.detach().cpu().numpy()

    def fetch_into(self, array: np.ndarray, result: Any) -> None:
        self.torch.from_numpy(array).copy_(result.detach())

    def page_lock(self, address: int, size: int) -> Callable[[int], object]:
        cudart = self.torch.cuda.cudart()
        self.torch.cuda.check_error(cudart.cudaHostRegister(address, size, 0))
        return lambda locked: cudart.cudaHostUnregister(locked)

    def release(self) -> None:
        self.torch.cuda.empty_cache()

    def fence(self) -> None:
        self.torch.cuda.current_stream().synchronize()

    def hold(self, seconds: float) -> None:
        self.torch.cuda._sleep(int(seconds * 2e9))  # cycles, at about 2 GHz

    def mark(self) -> Any:
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def reached(self, mark: Any) -> bool:
        return bool(mark.query())

    def between(self, begin: Any, end: Any) -> float:
        return float(begin.elapsed_time(end)) * 1e-3


SPIN = """
extern "C" __global__ void spin(long long cycles) {
  for (const long long begin = clock64(); clock64() - begin < cycles;) {}
}"""


class CupyPeer(GpuPeer):
    """On CuPy's current stream."""

    def __init__(self, inputs: Arrays, parameters: Parameters, device: Device) -> None:
        super().__init__(inputs, parameters, device)
        import cupy

        self.cupy = cupy
        cupy.cuda.Device(device.index).use()
        if device.memory_bytes:
            cupy.get_default_memory_pool().set_limit(size=device.memory_bytes)
        self._spin = cupy.RawKernel(SPIN, "spin")

    def device_copy(self, array: np.ndarray) -> Any:
        return self.cupy.asarray(array)

    def copy_in(self, to: Any, array: np.ndarray) -> None:
        to.set(array)

    def fetch(self, result: Any) -> Any:
        return self.cupy.asnumpy(result)

    def fetch_into(self, array: np.ndarray, result: Any) -> None:
        self.cupy.ascontiguousarray(result).get(out=array)

    def page_lock(self, address: int, size: int) -> Callable[[int], object]:
        runtime = self.cupy.cuda.runtime
        runtime.hostRegister(address, size, 0)
        return lambda locked: runtime.hostUnregister(locked)

    def release(self) -> None:
        self.cupy.get_default_memory_pool().free_all_blocks()

    def fence(self) -> None:
        self.cupy.cuda.get_current_stream().synchronize()

    def hold(self, seconds: float) -> None:
        self._spin((1,), (1,), (self.cupy.int64(seconds * 2e9),))

    def mark(self) -> Any:
        event = self.cupy.cuda.Event()
        event.record()
        return event

    def reached(self, mark: Any) -> bool:
        return bool(mark.done)

    def between(self, begin: Any, end: Any) -> float:
        return float(self.cupy.cuda.get_elapsed_time(begin, end)) * 1e-3


class NumbaCudaPeer(GpuPeer):
    """On Numba's default stream."""

    def __init__(self, inputs: Arrays, parameters: Parameters, device: Device) -> None:
        super().__init__(inputs, parameters, device)
        try:
            from numba import cuda

            cuda.select_device(device.index)

            @cuda.jit("void(int64)")
            def rest(times: int) -> None:  # nanosleep is limited to a millisecond
                for _ in range(times):
                    cuda.nanosleep(50_000)
        except AttributeError as error:  # numba-cuda uses what NumPy has removed
            raise Unsupported(f"numba.cuda and NumPy do not match: {error}") from error
        self.cuda = cuda
        self._rest = rest

    def device_copy(self, array: np.ndarray) -> Any:
        return self.cuda.to_device(array)

    def copy_in(self, to: Any, array: np.ndarray) -> None:
        to.copy_to_device(array)

    def fetch(self, result: Any) -> Any:
        return result.copy_to_host()

    def fetch_into(self, array: np.ndarray, result: Any) -> None:
        result.copy_to_host(array)

    def pinned(self, shape: tuple[int, ...], dtype: str) -> Any:
        return self.cuda.pinned_array(shape, dtype)

    def fence(self) -> None:
        self.cuda.synchronize()

    def hold(self, seconds: float) -> None:
        self._rest[1, 1](int(seconds / 50e-6))

    def mark(self) -> Any:
        event = self.cuda.event(timing=True)
        event.record()
        return event

    def reached(self, mark: Any) -> bool:
        return bool(mark.query())

    def between(self, begin: Any, end: Any) -> float:
        return float(self.cuda.event_elapsed_time(begin, end)) * 1e-3


class JaxPeer(DevicePeer):
    """On an XLA device, in fp32 with full-precision products. No stream for events: timed by the host
    clock, so that a compute should be few calls. A subclass keeps what it computes in `results`."""

    kind: ClassVar[str] = "gpu"

    def __init__(self, inputs: Arrays, parameters: Parameters, device: Device) -> None:
        super().__init__(inputs, parameters, device)
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        os.environ["NPROC"] = str(device.threads)
        import jax

        self.jax = jax
        self.results: Any = ()
        on_host = device.kind == "host"
        if on_host:
            jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_default_matmul_precision", "highest")
        jax.config.update("jax_enable_x64", True)  # f32 stays f32
        try:
            devices = jax.devices("cpu" if on_host else "gpu")
        except RuntimeError as error:
            raise Unsupported(f"JAX has no GPU here: {error}") from error
        jax.config.update("jax_default_device", devices[0 if on_host else device.index])

    def device_copy(self, array: np.ndarray) -> Any:
        return self.jax.numpy.array(array)

    def copy_in(self, to: Any, array: np.ndarray) -> None:
        """Arrays of JAX do not change: the copy is made beside the first, and dropped."""
        self.jax.block_until_ready(self.jax.numpy.array(array))

    def fetch(self, result: Any) -> Any:
        import numpy

        return numpy.asarray(result)

    def fence(self) -> None:
        self.jax.block_until_ready(self.results)
