# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: products with the matrix of powers; eager, compiled, and captured into CUDA graphs; on moments.

theta is kept in double: its updates are smaller than the last digit of a float.
"""

import torch

from backends.python.on_cpu import OnCpu
from backends.python.torch_solve import TorchSolve


class Descent(TorchSolve):
    def upload(self):
        x = self.to_device(self.inputs["x"])
        self.y = self.to_device(self.inputs["y"])
        self.powers = torch.stack([x**p for p in range(4)], dim=1)
        self.rate = float(self.parameters["learning_rate"])
        self.hold_state(torch.from_numpy(self.inputs["start"]))


class Autograd(Descent):
    method = "autograd"
    description = "sum of squares, backward(), torch.optim.SGD"
    dtypes = ("f32", "f64")

    def upload(self):
        super().upload()
        self.theta.requires_grad_(True)
        self.optimizer = torch.optim.SGD([self.theta], lr=self.rate)

    def take(self):
        with torch.enable_grad():
            fitted = torch.mv(self.powers, self.theta.to(self.y.dtype))
            loss = torch.nn.functional.mse_loss(fitted, self.y, reduction="sum")
            loss.backward()
        self.note(loss.detach())
        self.optimizer.step()
        self.optimizer.zero_grad()


class Eager(Descent):
    method = "eager"
    description = "the gradient written out: two matrix-vector products"
    dtypes = ("f32", "f64")

    def take(self):
        theta = self.theta.to(self.y.dtype)
        error = torch.addmv(self.y, self.powers, theta, beta=-1)
        self.note(torch.dot(error, error))
        self.theta.sub_(torch.mv(self.powers.T, error), alpha=2 * self.rate)


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
        theta = self.theta.to(self.y.dtype)
        error = (self.powers * theta).sum(1) - self.y
        gradient = (self.powers * error[:, None]).sum(0)
        self.note((error * error).sum())
        self.theta.sub_(2 * self.rate * gradient.double())


class CompiledGraph(Compiled):
    method = "compiled_graph"
    description = "the compiled step, captured into CUDA graphs of 100"
    dtypes = ("f32", "f64")
    execution = "compiled_graph"


class Moments(Descent):
    method = "moments"
    description = "products of powers in double, then steps on them"
    dtypes = ("f32", "f64")

    def upload(self):
        super().upload()
        self.x = self.powers[:, 1].contiguous()
        self.products = torch.empty(5, 5, dtype=torch.float64, device=self.cuda)

    def begin(self):
        super().begin()
        x = self.x.double()
        columns = torch.stack([torch.ones_like(x), x, x**2, x**3, self.y.double()])
        self.products.copy_(columns @ columns.T)

    def take(self):
        right = self.products[:-1, -1]
        slopes = torch.addmv(right, self.products[:-1, :-1], self.theta, beta=-1)
        square = self.products[-1, -1] + torch.dot(self.theta, slopes - right)
        self.note(square.clamp(min=0))
        self.theta.sub_(slopes, alpha=2 * self.rate)


class MomentsGraph(Moments):
    method = "moments_graph"
    description = "the steps of moments, captured into CUDA graphs of 100"
    dtypes = ("f32", "f64")
    execution = "graph"


class EagerCpu(OnCpu, Eager):
    method = "eager_cpu"
    description = "eager, on the CPU"
    dtypes = ("f32", "f64")
    kind = "host"
