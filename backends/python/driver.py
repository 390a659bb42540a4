# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds and runs a peer in this process."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

from .peer import Arrays, Device, Parameters, Peer

ROOT = Path(__file__).resolve().parents[2]


def load(algorithm: str, model: str, root: Path = ROOT) -> ModuleType:
    """Imports root/algorithms/<algorithm>/peers/<model>.py, with its libraries.

    By its path: a peer file has its library's name, and must not shadow it.
    """
    name = f"algorithms.{algorithm}.peers.{model}"
    path = root / "algorithms" / algorithm / "peers" / f"{model}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"no peer file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def variants(module: ModuleType) -> dict[str, type[Peer]]:
    """Method -> class, for a peer file."""
    return {
        value.__dict__["method"]: value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Peer)
        and value.__module__ == module.__name__
        and "method" in value.__dict__
    }


def prepare(
    made_from: type[Peer],
    inputs: Arrays,
    parameters: Parameters,
    device: Device,
) -> Peer:
    """A peer with its inputs in place."""
    peer = made_from(inputs, parameters, device)
    peer.upload()
    peer.fence()
    return peer


def run(
    made_from: type[Peer],
    inputs: Arrays,
    parameters: Parameters,
    device: Device | None = None,
) -> dict[str, np.ndarray]:
    """The outputs of one compute from the initial state."""
    peer = prepare(made_from, inputs, parameters, device or Device(made_from.kind))
    peer.reset()
    peer.fence()
    peer.compute()
    peer.fence()
    return {name: np.asarray(value) for name, value in peer.download().items()}
