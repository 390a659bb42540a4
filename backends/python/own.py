# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function in a file of the user's own as a peer (bench/README.md, your own kernel)."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .device_peer import kind_of
from .gpu import CupyPeer, TorchPeer
from .inspection import Index, Inspector, require_rest, rested
from .kept import Kept, Names
from .peer import Arrays, Device, HostPeer, Parameters, Unsupported


class NumpyFunction(HostPeer):
    """Called with the inputs and numbers that ``call`` names; returns the results that it names, in order.

    ``outputs`` are those of the problem: their types and shapes are those of the results.
    """

    warm_up = True

    def __init__(
        self,
        call: dict[str, Any],
        inputs: Arrays,
        parameters: Parameters,
        device: Device,
        outputs: Arrays,
    ) -> None:
        super().__init__(inputs, parameters, device)
        self.call = call
        self.shapes = {name: array.shape for name, array in outputs.items()}
        self.outputs = [outputs[name] for name in call["results"]]
        self.results: Any = None
        self.anew: Callable[..., Any] | None = None
        self.inspector = Inspector(self)
        self.clocks = Kept(self.timed_by())
        self.function = function_of(Path(call["file"]), call["function"])
        self.clocks.check()

    def timed_by(self) -> list[Names]:
        """What the library times and fetches by."""
        return [(np, ("ndarray", "asarray", "ascontiguousarray"))]

    def place(self, array: np.ndarray) -> Any:
        """An input where the function takes it."""
        return array.copy()

    def fetch(self, result: Any) -> Any:
        """A result as a NumPy array."""
        return result

    def is_right(self, result: Any) -> bool:
        """Whether a result is an array of the library, itself and on the device."""
        return type(result) is np.ndarray

    wanted = "numpy.ndarray"

    def flat(self, array: Any) -> Any:
        """An input with one dimension; the same memory."""
        return array.reshape(-1)

    def assign(self, view: Any, values: Any) -> None:
        """Overwrites a view of an input."""
        view[...] = values

    def owns(self, result: Any) -> bool:
        """Whether a result can be written, and is no input."""
        inputs = [array for _, array in self.placed]
        return bool(result.flags.writeable) and not any(
            np.may_share_memory(result, array) for array in inputs
        )

    def fill(self, result: Any, value: float) -> None:
        result.fill(value)

    def place_index(self, index: Index) -> Any:
        """Positions where `peek` takes them."""
        return index

    def peek(self, result: Any, index: Any) -> np.ndarray:
        """A copy of some values of a result."""
        return np.asarray(result[index])

    def synchronize(self) -> None:
        """Waits for all work of the device."""

    def upload(self) -> None:
        self.placed = []
        self.arguments = [self.value(a) for a in self.call["arguments"]]

    def value(self, argument: dict[str, Any]) -> Any:
        source, role = argument["source"], argument["role"]
        if role == "input":
            self.placed.append((self.inputs[source], self.place(self.inputs[source])))
            return self.placed[-1][1]
        if role == "size":
            return self.shapes[source][argument["dimension"]]
        number = self.parameters[source]
        return int(number) if argument["type"] == "i64" else float(number)

    def poison(self) -> None:
        """Drops the results; the arrays that held them hold no values any more."""
        results = self.results if isinstance(self.results, tuple) else (self.results,)
        self.results = None
        for result in results:
            if self.is_right(result) and self.owns(result):
                self.fill(result, poison_of(kind_of(result)[1]))

    def reset(self) -> None:
        self.poison()

    def compute(self) -> None:
        self.results = self.function(*self.arguments)

    def compute_anew(self) -> None:
        """By the function of a module that is imported once more, and has never seen the inputs as uploaded."""
        if self.anew is None:
            try:
                self.anew = function_of(Path(self.call["file"]), self.call["function"])
            except Exception:  # noqa: BLE001  (what it registers may exist once only)
                traceback.print_exc()
                self.anew = self.function
        self.results = self.anew(*self.arguments)

    def checked(self) -> list[Any]:
        """The results. Raises TypeError or ValueError unless they are what the problem declares."""
        results = self.results if isinstance(self.results, tuple) else (self.results,)
        names = self.call["results"]
        if len(results) != len(names):
            raise ValueError(f"it returns {len(results)} results, not {len(names)}")
        for name, result, output in zip(names, results, self.outputs, strict=True):
            if not self.is_right(result):
                raise TypeError(f"'{name}' is {described(result)}, not {self.wanted}")
            if kind_of(result) != kind_of(output):
                (shape, dtype), (right, wanted) = kind_of(result), kind_of(output)
                what = f"'{name}' is {dtype}{list(shape)}"
                raise ValueError(f"{what}, not {wanted}{list(right)}")
        return list(results)

    def download(self) -> dict[str, Any]:
        results = [self.fetch(result) for result in self.checked()]
        return dict(zip(self.call["results"], results, strict=True))


class DeviceFunction(NumpyFunction):
    """On a GPU: mixed with the peer of a library."""

    def time(self, count: int) -> float:
        """Raises RuntimeError if another stream still works after the current one."""
        return rested(lambda: self.timed(count))

    def timed(self, count: int) -> float:
        """As `time`. Raises OtherStreamError where the device may not have been at rest."""
        seconds = super().time(count)
        require_rest(self, seconds * count)
        return seconds


class CupyFunction(DeviceFunction, CupyPeer):
    """The same with CuPy's arrays, on its current stream."""

    wanted = "a cupy.ndarray on the device"

    def timed_by(self) -> list[Names]:
        cuda = self.cupy.cuda
        synchronizing = ("deviceSynchronize", "streamSynchronize")
        return [
            *super().timed_by(),
            (self.cupy, ("ndarray", "asarray", "asnumpy", "may_share_memory")),
            (cuda, ("Event", "get_current_stream", "get_elapsed_time")),
            (cuda.Event, ("__init__", "record", "done")),
            (cuda.Stream, ("synchronize",)),
            (cuda.runtime, ("eventElapsedTime", "eventRecord", *synchronizing)),
        ]

    def place(self, array: np.ndarray) -> Any:
        return self.cupy.asarray(array)

    def fetch(self, result: Any) -> Any:
        return self.cupy.asnumpy(result)

    def is_right(self, result: Any) -> bool:
        right = type(result) is self.cupy.ndarray
        return right and result.device.id == self.device.index

    def owns(self, result: Any) -> bool:
        return not any(self.cupy.may_share_memory(result, a) for _, a in self.placed)

    def place_index(self, index: Index) -> Any:
        return tuple(self.cupy.asarray(positions) for positions in index)

    def peek(self, result: Any, index: Any) -> np.ndarray:
        return np.asarray(self.cupy.asnumpy(result[index]))

    def synchronize(self) -> None:
        self.cupy.cuda.runtime.deviceSynchronize()


class TorchFunction(DeviceFunction, TorchPeer):
    """The same with PyTorch's tensors, on its current stream."""

    wanted = "a dense torch.Tensor on the device"

    def timed_by(self) -> list[Names]:
        cuda = self.torch.cuda
        return [
            *super().timed_by(),
            (self.torch, ("Tensor", "from_numpy")),
            (cuda, ("Event", "current_stream", "synchronize", "_sleep")),
            (cuda.Event, ("__new__", "record", "query", "elapsed_time")),
            (cuda.Stream, ("__new__", "synchronize")),
        ]

    def place(self, array: np.ndarray) -> Any:
        return self.torch.from_numpy(array.copy()).to(self.cuda)

    def fetch(self, result: Any) -> Any:
        return result.detach().cpu().numpy()

    def is_right(self, result: Any) -> bool:
        right = type(result) is self.torch.Tensor and result.device == self.cuda
        return right and result.layout == self.torch.strided

    def flat(self, array: Any) -> Any:
        return array.data.view(-1)  # of `data`: its version stays as it is

    def assign(self, view: Any, values: Any) -> None:
        view.copy_(values)

    def owns(self, result: Any) -> bool:
        storage = result.untyped_storage().data_ptr()
        others = [array.untyped_storage().data_ptr() for _, array in self.placed]
        return bool(result.is_contiguous()) and storage not in others

    def fill(self, result: Any, value: float) -> None:
        result.data.fill_(value)

    def place_index(self, index: Index) -> Any:
        return tuple(self.torch.from_numpy(p).to(self.cuda) for p in index)

    def peek(self, result: Any, index: Any) -> np.ndarray:
        return np.asarray(result.data[index].cpu().numpy())

    def synchronize(self) -> None:
        self.torch.cuda.synchronize(self.cuda)


FUNCTIONS = {"numpy": NumpyFunction, "cupy": CupyFunction, "torch": TorchFunction}


def poison_of(dtype: str) -> float:
    """A value that no result has: of floats NaN, else all bits."""
    return float("nan") if "float" in dtype else 255 if dtype == "uint8" else -1


def described(result: Any) -> str:
    """Its type, and where it lies."""
    kind = f"{type(result).__module__}.{type(result).__qualname__}"
    device = getattr(result, "device", None)
    return f"{kind} on {device}" if device is not None else kind


def function_of(file: Path, name: str) -> Any:
    """Imports the file, anew each time. Raises TypeError if it has no such function."""
    spec = importlib.util.spec_from_file_location("own_kernel", file)
    if spec is None or spec.loader is None:
        raise Unsupported(f"cannot import {file}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses and pickle look there
    if str(file.parent) not in sys.path:
        sys.path.append(str(file.parent))  # for modules beside it; libraries come first
    spec.loader.exec_module(module)
    if not callable(getattr(module, name, None)):
        raise TypeError(f"{file.name} has no function {name}")
    return getattr(module, name)


def own_peer(
    call: dict[str, Any],
    inputs: Arrays,
    parameters: Parameters,
    device: Device,
    outputs: Arrays,
) -> NumpyFunction:
    """The peer for a request's ``own``."""
    made_from: type[NumpyFunction] = FUNCTIONS[call["arrays"]]
    return made_from(call, inputs, parameters, device, outputs)
