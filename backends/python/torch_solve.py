# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Iterative solves in PyTorch: the state is on the GPU, without host synchronisation inside a solve."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from .gpu import TorchPeer
from .graphs import graph_lengths
from .peer import Arrays, Device, Parameters


class TorchSolve(TorchPeer):
    """A solve of `steps` steps on theta, kept in double, from `start`.

    A subclass gives `take`, one step. `execution`: "eager", one operation after another; "compiled" by
    torch.compile; "graph", captured into CUDA graphs; "compiled_graph".
    """

    execution: ClassVar[str] = "eager"
    #: Steps per pass over the rows.
    period: int = 1

    def __init__(self, inputs: Arrays, parameters: Parameters, device: Device) -> None:
        super().__init__(inputs, parameters, device)
        self.steps = int(parameters["steps"])
        self.graphs: list[tuple[Any, int]] | None = None

    def hold_state(self, start: Any) -> None:
        """Makes the state on the GPU: theta like `start`, the loss of each step, the number of steps."""
        torch = self.torch
        self.start = torch.as_tensor(start, dtype=torch.float64, device=self.cuda)
        self.theta = torch.empty_like(self.start)
        self.loss = torch.empty(self.steps, dtype=torch.float64, device=self.cuda)
        self.taken = torch.empty(1, dtype=torch.int64, device=self.cuda)
        self.step = self.take
        if self.execution.startswith("compiled"):
            self.step = torch.compile(self.take, dynamic=False)

    def builds(self) -> bool:
        return self.execution != "eager"

    @abstractmethod
    def take(self, *rows: Any) -> None:
        """One step: `note` the loss before it, then update theta. Tensors only, no changing host values."""

    def rows_of(self, step: int) -> tuple[Any, ...]:
        """Arguments of `take`; periodic with `period` steps."""
        return ()

    def note(self, loss: Any) -> None:
        """Stores the loss of this step, and counts the step."""
        self.loss.index_copy_(0, self.taken, loss.double().reshape(1))
        self.taken.add_(1)

    def begin(self) -> None:
        """Restores the initial state."""
        self.theta.copy_(self.start)
        self.taken.zero_()

    def reset(self) -> None:
        for state in (self.theta, self.loss):
            state.fill_(float("nan"))
        self.taken.fill_(-1)

    def compute(self) -> None:
        if self.execution.endswith("graph"):
            if self.graphs is None:
                self.graphs = self.capture()
            self.begin()
            for graph, times in self.graphs:
                for _ in range(times):
                    graph.replay()
            return
        self.begin()
        for step in range(self.steps):
            self.step(*self.rows_of(step))

    def capture(self) -> list[tuple[Any, int]]:
        """Graphs, and the number of replays of each."""
        parts = graph_lengths(self.steps, self.period)
        self.begin()
        for step in range(min(self.period, self.steps)):  # compiles, sets up libraries
            self.step(*self.rows_of(step))
        self.fence()
        return [(self.graph_of(n), times) for n, times in parts]

    def graph_of(self, steps: int) -> Any:
        """A CUDA graph of the first `steps` steps."""
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            for step in range(steps):
                self.step(*self.rows_of(step))
        return graph

    def download(self) -> dict[str, Any]:
        return {
            "theta": self.to_host(self.theta),
            "loss": self.to_host(self.loss),
            "steps": self.to_host(self.taken),
        }
