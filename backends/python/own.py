# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A function in a file of the user's own as a peer (bench/README.md, your own kernel)."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from .gpu import CupyPeer, TorchPeer
from .peer import Arrays, Device, HostPeer, Parameters, Peer, Unsupported


class NumpyFunction(HostPeer):
    """Called with the inputs and numbers that ``call`` names; returns the results that it names, in order."""

    warm_up = True

    def __init__(
        self,
        call: dict[str, Any],
        inputs: Arrays,
        parameters: Parameters,
        device: Device,
    ) -> None:
        super().__init__(inputs, parameters, device)
        self.call = call
        self.function = function_of(Path(call["file"]), call["function"])
        self.shapes: dict[str, tuple[int, ...]] = {}  # of the outputs

    def place(self, array: np.ndarray) -> Any:
        """An input where the function takes it."""
        return array.copy()

    def fetch(self, result: Any) -> Any:
        """A result as a NumPy array."""
        return np.asarray(result)

    def upload(self) -> None:
        self.arguments = [self.value(a) for a in self.call["arguments"]]

    def value(self, argument: dict[str, Any]) -> Any:
        source, role = argument["source"], argument["role"]
        if role == "input":
            return self.place(self.inputs[source])
        if role == "size":
            return self.shapes[source][argument["dimension"]]
        number = self.parameters[source]
        return int(number) if argument["type"] == "i64" else float(number)

    def reset(self) -> None:
        self.results: Any = None

    def compute(self) -> None:
        self.results = self.function(*self.arguments)

    def download(self) -> dict[str, Any]:
        results = self.results if isinstance(self.results, tuple) else (self.results,)
        names = self.call["results"]
        if len(results) != len(names):
            raise ValueError(f"it returns {len(results)} results, not {len(names)}")
        return {n: self.fetch(r) for n, r in zip(names, results, strict=True)}


class CupyFunction(NumpyFunction, CupyPeer):
    """The same with CuPy's arrays, on its current stream."""

    def place(self, array: np.ndarray) -> Any:
        return self.cupy.asarray(array)

    def fetch(self, result: Any) -> Any:
        return self.cupy.asnumpy(result)


class TorchFunction(NumpyFunction, TorchPeer):
    """The same with PyTorch's tensors, on its current stream."""

    def place(self, array: np.ndarray) -> Any:
        return self.torch.from_numpy(array.copy()).to(self.cuda)

    def fetch(self, result: Any) -> Any:
        return result.cpu().numpy()


FUNCTIONS = {"numpy": NumpyFunction, "cupy": CupyFunction, "torch": TorchFunction}


def function_of(file: Path, name: str) -> Any:
    """Imports the file. Raises TypeError if it has no such function."""
    spec = importlib.util.spec_from_file_location("own_kernel", file)
    if spec is None or spec.loader is None:
        raise Unsupported(f"cannot import {file}")
    module = importlib.util.module_from_spec(spec)
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
) -> Peer:
    """The peer for a request's ``own``; ``outputs`` tell the shapes."""
    peer = FUNCTIONS[call["arrays"]](call, inputs, parameters, device)
    peer.shapes = {name: array.shape for name, array in outputs.items()}
    return peer
