# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: gradient descent eager, compiled, and captured into CUDA graphs; likewise Newton steps.

theta, intercept first, is kept in double: its updates may be smaller than the last digit of a float. TF32
is not used: these are matrix-vector products.
"""

import torch
from torch.nn import functional

from algorithms.logistic_regression.peers.newton import NewtonSteps
from backends.python.on_cpu import OnCpu
from backends.python.torch_solve import TorchSolve


class Descent(TorchSolve):
    """Rows [features x rows] as given; the stop test stays on the GPU."""

    forms = (("theta", "library"),)

    def upload(self):
        self.x = self.to_device(self.inputs["columns"])
        labels = self.to_device(self.inputs["labels"])
        self.y = labels.to(self.x.dtype)
        self.rate, self.l2, self.tolerance = (
            float(self.parameters[name])
            for name in ("learning_rate", "l2", "tolerance")
        )
        self.hold_state([0] * (len(self.x) + 1))
        self.queued = torch.empty_like(self.taken)
        self.last = torch.empty_like(self.loss[:1])
        self.stopped = torch.empty(1, dtype=torch.bool, device=self.cuda)

    def begin(self):
        super().begin()
        self.queued.zero_()
        self.stopped.zero_()

    def descend(self, loss, gradient):
        """A step from the mean loss and its gradient, without the penalty."""
        gradient = gradient.double()
        if self.l2:
            weights = self.theta[1:]
            loss = loss + self.l2 / 2 * torch.dot(weights, weights)
            gradient = gradient + functional.pad(self.l2 * weights, (1, 0))
        if not self.tolerance:
            self.note(loss)
            self.theta.sub_(gradient, alpha=self.rate)
            return
        self.last.copy_(torch.where(self.stopped, self.last, loss.double()))
        self.loss.index_copy_(0, self.queued, self.last)
        self.queued.add_(1)
        moving = ~self.stopped
        self.taken.add_(moving)
        self.theta.sub_(self.rate * gradient * moving)
        self.stopped.logical_or_((gradient.abs() < self.tolerance).all())


class Autograd(Descent):
    method = "autograd"
    description = "binary_cross_entropy_with_logits, backward()"
    dtypes = ("f32", "f64")

    def upload(self):
        super().upload()
        self.theta.requires_grad_(True)

    def take(self):
        with torch.enable_grad():
            theta = self.theta.to(self.x.dtype)
            z = torch.mv(self.x.T, theta[1:]) + theta[0]
            if self.trace:
                self.trace.end("forward")
            loss = functional.binary_cross_entropy_with_logits(z, self.y)
            if self.trace:
                self.trace.end("loss")
            loss.backward()
        if self.trace:
            self.trace.end("backward")
        self.descend(loss.detach(), self.theta.grad)
        self.theta.grad = None
        if self.trace:
            self.trace.end("update")


class Eager(Descent):
    method = "eager"
    description = "the gradient written out: matrix-vector products"
    dtypes = ("f32", "f64")

    def take(self):
        theta = self.theta.to(self.x.dtype)
        z = torch.mv(self.x.T, theta[1:]).add_(theta[0])
        loss = functional.binary_cross_entropy_with_logits(z, self.y)
        residual = z.sigmoid_().sub_(self.y)
        sums = (residual.sum(0, keepdim=True), torch.mv(self.x, residual))
        self.descend(loss, torch.cat(sums).double() / len(z))


class Graph(Eager):
    method = "graph"
    description = "the operations of eager, captured into CUDA graphs of 100 steps"
    dtypes = ("f32", "f64")
    execution = "graph"


class Compiled(Descent):
    method = "compiled"
    description = "torch.compile of a step, elementwise"
    dtypes = ("f32", "f64")
    execution = "compiled"

    def take(self):
        theta = self.theta.to(self.x.dtype)
        z = (theta[1:, None] * self.x).sum(0) + theta[0]
        loss = functional.binary_cross_entropy_with_logits(z, self.y)
        residual = torch.sigmoid(z) - self.y
        sums = (residual.sum(0, keepdim=True), (self.x * residual).sum(1))
        self.descend(loss, torch.cat(sums).double() / len(z))


class CompiledGraph(Compiled):
    method = "compiled_graph"
    description = "the compiled step, captured into CUDA graphs of 100"
    dtypes = ("f32", "f64")
    execution = "compiled_graph"


class NewtonSolve(NewtonSteps, TorchSolve):
    """The sums of a step are its `take`; the small system is solved by separate operations."""

    def upload(self):
        self.x = self.to_device(self.inputs["columns"])
        self.y = self.to_device(self.inputs["labels"]).double()
        n, rows = len(self.x) + 1, len(self.y)
        self.hold_state([0] * n)
        self.penalty = torch.full_like(self.theta, float(self.parameters["l2"])).diag()
        self.penalty[0, 0] = 0
        self.columns = self.theta.new_ones(n, rows)
        self.hessian, self.found = self.penalty.clone(), self.theta.new_empty(2)
        self.gradient, self.before, self.direction = self.theta.new_empty(3, n)

    def begin(self):
        super().begin()
        self.columns[1:] = self.x

    def keep(self, loss, scaled):
        """From the mean loss and the scaled columns, without the penalty."""
        means = torch.mm(scaled, self.columns.T) / len(self.y)
        penalised = torch.mv(self.penalty, self.theta)
        loss = loss + torch.dot(self.theta, penalised) / 2
        self.hessian.copy_(means[:-1] + self.penalty)
        self.gradient.copy_(means[-1] + penalised)
        self.found.copy_(torch.stack([loss, self.gradient.abs().max()]))

    def look(self):
        if not self.execution.endswith("graph"):
            self.step()
        else:
            self.graphs = self.graphs or self.capture()
            self.graphs[0][0].replay()
        return tuple(self.found.tolist())

    def capture(self):
        self.step()  # compiles, sets up libraries
        self.fence()
        return [(self.graph_of(1), self.steps)]

    def solve(self):
        factor, wrong = torch.linalg.cholesky_ex(self.hessian)  # does not synchronise
        step = torch.cholesky_solve(-self.gradient[:, None], factor)[:, 0]
        return torch.where(wrong == 0, step, torch.nan)


class Newton(NewtonSolve):
    method = "newton"
    description = "eager: one product in double per step, a Cholesky factorisation"

    def upload(self):
        super().upload()
        self.scaled = self.columns.new_empty(len(self.theta) + 1, len(self.y))

    def take(self):
        z = torch.mv(self.columns.T, self.theta)
        loss = functional.binary_cross_entropy_with_logits(z, self.y)
        p = z.sigmoid()
        torch.sub(p, self.y, out=self.scaled[-1])
        weights = p.mul_(z.neg_().sigmoid_())
        torch.mul(self.columns, weights, out=self.scaled[:-1])
        self.keep(loss, self.scaled)


class NewtonCompiled(NewtonSolve):
    method = "newton_compiled"
    description = "torch.compile of the pass over the rows: logits and scaled columns"
    execution = "compiled"

    def take(self):
        z = (self.theta[1:, None] * self.x).sum(0) + self.theta[0]
        loss = functional.binary_cross_entropy_with_logits(z, self.y)
        p = torch.sigmoid(z)
        weighted = self.columns * (p * torch.sigmoid(-z))
        self.keep(loss, torch.cat([weighted, (p - self.y)[None]]))


class NewtonGraph(NewtonCompiled):
    method = "newton_graph"
    description = "the compiled pass as a CUDA graph, then cuSOLVER"
    execution = "compiled_graph"


class EagerCpu(OnCpu, Eager):
    method = "eager_cpu"
    description = "eager, on the CPU"
    dtypes = ("f32", "f64")
    kind = "host"


class AutogradCpu(OnCpu, Autograd):
    method = "autograd_cpu"
    description = "autograd, on the CPU"
    dtypes = ("f32", "f64")
    kind = "host"
