# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Iterative solves in CuPy: the state is on the GPU, without host synchronisation inside a solve."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from .gpu import CupyPeer
from .graphs import graph_lengths
from .peer import Arrays, Device, Parameters


class CupySolve(CupyPeer):
    """A solve of `steps` steps on theta, kept in double, from `start`; a subclass gives `take`.

    With `captured`, the steps are CUDA graphs: then `take` must not allocate memory.
    """

    captured: ClassVar[bool] = False
    #: Steps per pass over the rows.
    period: int = 1

    def __init__(self, inputs: Arrays, parameters: Parameters, device: Device) -> None:
        super().__init__(inputs, parameters, device)
        self.steps = int(parameters["steps"])
        self.graphs: list[tuple[Any, int]] | None = None

    def hold_state(self, start: Any) -> None:
        """Makes the state on the GPU: theta like `start`, the loss of each step, the number of steps."""
        self.start = self.cupy.asarray(start, dtype=self.cupy.float64)
        self.theta = self.cupy.empty_like(self.start)
        self.loss = self.cupy.empty(self.steps)
        self.taken = self.cupy.empty(1, self.cupy.int64)

    def builds(self) -> bool:
        return self.captured

    @abstractmethod
    def take(self, step: int) -> None:
        """One step: stores the loss before it, then updates theta."""

    def begin(self) -> None:
        """Restores the initial state."""
        self.theta[...] = self.start
        self.taken.fill(0)

    def reset(self) -> None:
        for state in (self.theta, self.loss):
            state.fill(self.cupy.nan)
        self.taken.fill(-1)

    def compute(self) -> None:
        if not self.captured:
            self.begin()
            for step in range(self.steps):
                self.take(step)
            return
        if self.graphs is None:
            self.graphs = self.capture()
        self.begin()
        for graph, times in self.graphs:
            for _ in range(times):
                graph.launch()

    def capture(self) -> list[tuple[Any, int]]:
        """Graphs, and the number of launches of each."""
        parts = graph_lengths(self.steps, self.period)
        self.begin()
        self.take(0)  # compiles
        self.fence()
        return [(self.graph_of(n), times) for n, times in parts]

    def graph_of(self, steps: int) -> Any:
        """A CUDA graph of the first `steps` steps."""
        with self.cupy.cuda.Stream(non_blocking=True) as stream:
            stream.begin_capture()
            for step in range(steps):
                self.take(step)
            return stream.end_capture()

    def download(self) -> dict[str, Any]:
        return {
            "theta": self.to_host(self.theta),
            "loss": self.to_host(self.loss),
            "steps": self.to_host(self.taken),
        }
