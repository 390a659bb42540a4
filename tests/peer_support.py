# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of peers share: each variant of an algorithm, run on the CPU where that can be."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import types
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

from backends.python import catalogue, driver, gpu
from backends.python.device_peer import DevicePeer
from backends.python.peer import Device, Peer

os.environ["TRITON_INTERPRET"] = "1"

HOST = Device("host", 0, 2)
#: Host models; PyTorch, whose eager methods are the same on a CPU; Triton, which has an interpreter.
MODELS = ("numpy", "sklearn", "numba", "jax", "pytorch", "tensorflow", "triton")
ALIKE = ("i8",)  #: methods of JAX that have no twin for a CPU, and need none
#: Ends of methods that a CPU cannot run.
GPU_ONLY = ("compiled", "graph", "graph_tf32", "bf16")
NUMPY_TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "u8": np.uint8}

Variant = tuple[str, str, str]


def variants(algorithm: str, problem: str = "", models: tuple[str, ...] = MODELS):
    """Parameters of a test: (model, method, dtype) of each variant that a CPU can run."""
    found = []
    for model in models:
        path = driver.ROOT / "algorithms" / algorithm / "peers" / f"{model}.py"
        for peer in catalogue.peers_of(path, driver.ROOT) if path.exists() else []:
            on_cpu = peer["kind"] == "host" or model in ("pytorch", "triton")
            on_cpu |= model == "jax" and peer["method"] in ALIKE
            gpu_only = peer["method"].endswith(GPU_ONLY)
            if peer.get("problem", "") == problem and on_cpu and not gpu_only:
                for dtype in peer["dtypes"]:
                    variant = (model, peer["method"], dtype)
                    found.append(pytest.param(variant, id="-".join(variant)))
    return found


@functools.cache
def load(algorithm: str, model: str) -> dict[str, type[Peer]]:
    """The variants of a file, loaded once: what Numba has compiled stays compiled."""
    return driver.variants(driver.load(algorithm, model))


def peer_of(algorithm: str, model: str, method: str) -> type[Peer]:
    """The variant; the test is skipped where its library is not there."""
    path = driver.ROOT / "algorithms" / algorithm / "peers" / f"{model}.py"
    for peer in catalogue.peers_of(path, driver.ROOT):
        if peer["unavailable"]:
            pytest.skip(peer["unavailable"])
    return load(algorithm, model)[method]


@contextlib.contextmanager
def torch_on_cpu() -> Iterator[None]:
    """PyTorch's peers on the CPU."""
    if importlib.util.find_spec("torch") is None:
        yield
        return
    import torch

    def prepare(self: Any, inputs: Any, parameters: Any, device: Device) -> None:
        Peer.__init__(self, inputs, parameters, device)
        self.torch, self.cuda = torch, torch.device("cpu")

    properties = types.SimpleNamespace(multi_processor_count=2)
    with (
        torch.no_grad(),
        mock.patch("torch.cuda.get_device_properties", lambda device: properties),
        mock.patch.object(gpu.TorchPeer, "__init__", prepare),
        mock.patch.object(gpu.TorchPeer, "fence", lambda self: None),
    ):
        yield


class InHostMemory(DevicePeer):
    """A peer of a GPU whose device memory is the host's: a subclass computes with NumPy."""

    kind = "gpu"

    def device_copy(self, array: np.ndarray) -> np.ndarray:
        return array.copy()

    def copy_in(self, to: np.ndarray, array: np.ndarray) -> None:
        to[...] = array

    def fetch(self, result: np.ndarray) -> np.ndarray:
        return result.copy()

    def pinned(self, shape: tuple[int, ...], dtype: str) -> np.ndarray | None:
        return np.empty(shape, dtype)


def follow_on_cpu(*arguments: Any) -> None:
    """`follow` of distributed_torch.py, in a process that a test has started."""
    from algorithms.cnn.peers.distributed_torch import follow

    with torch_on_cpu():
        follow(*arguments)


def run(
    variant: Variant,
    algorithm: str,
    inputs: dict[str, np.ndarray],
    device: Device = HOST,
    **parameters: float | str,
) -> dict[str, np.ndarray]:
    """The outputs of a variant after two computes: the second must not need the first."""
    model, method, dtype = variant
    made_from = peer_of(algorithm, model, method)
    with torch_on_cpu():
        peer = driver.prepare(made_from, inputs, {**parameters, "dtype": dtype}, device)
        for _ in range(2):
            peer.reset()
            peer.compute()
            peer.fence()
        return {key: np.array(value) for key, value in peer.download().items()}
