# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: gradient descent eager, compiled, and captured into CUDA graphs; on moments; the normal equations.

Columns lie one after another, as they are given. theta, bias last, is kept in double: its updates may be
smaller than the last digit of a float.
"""

import torch

from algorithms.linear_regression.peers.rows import start_of, training_rows
from backends.python.gpu import TorchPeer
from backends.python.on_cpu import OnCpu
from backends.python.torch_solve import TorchSolve


def training_data(peer):
    """Columns [features x rows] and targets [rows], on the GPU."""
    rows = training_rows(peer.inputs["y"].size)
    x = peer.to_device(peer.inputs["x"])
    y = peer.to_device(peer.inputs["y"])
    return x[:, :rows], y[:rows]


class Descent(TorchSolve):
    def upload(self):
        self.x, self.y = training_data(self)
        self.rate = float(self.parameters["learning_rate"])
        self.hold_state(start_of(self))


class Autograd(Descent):
    method = "autograd"
    description = "MSELoss, backward(), torch.optim.SGD"
    dtypes = ("f32", "f64")

    def upload(self):
        super().upload()
        self.theta.requires_grad_(True)
        self.optimizer = torch.optim.SGD([self.theta], lr=self.rate)

    def take(self):
        with torch.enable_grad():
            theta = self.theta.to(self.y.dtype)
            weights, bias = theta[None, :-1], theta[-1:]
            fitted = torch.nn.functional.linear(self.x.T, weights, bias)
            if self.trace:
                self.trace.end("forward")
            loss = torch.nn.functional.mse_loss(fitted[:, 0], self.y) / 2
            if self.trace:
                self.trace.end("loss")
            loss.backward()
        if self.trace:
            self.trace.end("backward")
        self.note(loss.detach())
        self.optimizer.step()
        self.optimizer.zero_grad()
        if self.trace:
            self.trace.end("update")


class Eager(Descent):
    method = "eager"
    description = "the gradient written out: matrix-vector products"
    dtypes = ("f32", "f64")

    def take(self):
        theta, rows = self.theta.to(self.y.dtype), len(self.y)
        error = torch.addmv(self.y, self.x.T, theta[:-1], beta=-1).add_(theta[-1])
        self.note(torch.dot(error, error) / (2 * rows))
        share = self.rate / rows
        self.theta[:-1].sub_(torch.mv(self.x, error), alpha=share)
        self.theta[-1:].sub_(error.sum(0, keepdim=True), alpha=share)


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
        theta, rows = self.theta.to(self.y.dtype), len(self.y)
        error = (theta[:-1, None] * self.x).sum(0) + theta[-1] - self.y
        slopes = torch.cat([(self.x * error).sum(1), error.sum(0, keepdim=True)])
        self.note((error * error).sum() / (2 * rows))
        self.theta.sub_(self.rate / rows * slopes.double())


class CompiledGraph(Compiled):
    method = "compiled_graph"
    description = "the compiled step, captured into CUDA graphs of 100"
    dtypes = ("f32", "f64")
    execution = "compiled_graph"


def products_of(x, y):
    """Of the columns [features, 1, target] with each other, in double."""
    columns = torch.ones(len(x) + 2, len(y), dtype=torch.float64, device=y.device)
    columns[:-2], columns[-1] = x, y
    return columns @ columns.T


class Moments(Descent):
    method = "moments"
    description = "products in double, then steps on them"
    dtypes = ("f32", "f64")

    def upload(self):
        super().upload()
        columns = len(self.x) + 2
        self.products = torch.empty(
            columns, columns, dtype=torch.float64, device=self.cuda
        )

    def begin(self):
        super().begin()
        self.products.copy_(products_of(self.x, self.y))

    def take(self):
        rows, right = len(self.y), self.products[:-1, -1]
        slopes = torch.addmv(right, self.products[:-1, :-1], self.theta, beta=-1)
        square = self.products[-1, -1] + torch.dot(self.theta, slopes - right)
        self.note(square.clamp(min=0) / (2 * rows))
        self.theta.sub_(slopes, alpha=self.rate / rows)


class MomentsGraph(Moments):
    method = "moments_graph"
    description = "the steps of moments, captured into CUDA graphs of 100"
    dtypes = ("f32", "f64")
    execution = "graph"


class NormalEquations(TorchPeer):
    method = "normal_equations"
    description = "products in double, a Cholesky factorisation"
    dtypes = ("f32", "f64")
    problem = "normal_equations"

    def upload(self):
        self.x, self.y = training_data(self)
        self.theta = torch.empty(len(self.x) + 1, dtype=torch.float64, device=self.cuda)

    def reset(self):
        self.theta.fill_(float("nan"))

    def compute(self):
        products = products_of(self.x, self.y)[:-1]
        factor, _ = torch.linalg.cholesky_ex(products[:, :-1])  # does not wait
        self.theta.copy_(torch.cholesky_solve(products[:, -1:], factor)[:, 0])

    def download(self):
        return {"theta": self.to_host(self.theta)}


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
