# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: a product for the logits, one for the gradient; eager, compiled, captured, and with TF32.

theta, biases last, is kept in double: its updates may be smaller than the last digit of a float. tf32
holds pixels exactly, and rounds weights and residuals to 11 bits: the errors of theta and of the losses
are within the bound for the problem's long sums in fp32, so that the same bound applies.
"""

import torch
from torch.nn import functional

from algorithms.softmax_regression.peers.rows import task_of
from backends.python.on_cpu import OnCpu
from backends.python.peer import Unsupported
from backends.python.torch_solve import TorchSolve


class Descent(TorchSolve):
    forms = (("theta", "product"),)

    def upload(self):
        self.task = task = task_of(self)
        self.period = task.batches
        self.rows = self.to_device(task.rows)
        self.labels = self.to_device(task.labels).long()
        self.right = functional.one_hot(self.labels, task.classes).float()
        self.hold_state(torch.zeros(self.rows.shape[1] + 1, task.classes))

    def rows_of(self, step):
        part = self.task.part(step)
        return self.rows[part], self.labels[part], self.right[part]

    def logits(self, theta, x):
        weights = (theta[:-1] * self.task.scale).float()
        return torch.addmm(theta[-1].float(), x, weights)


class Autograd(Descent):
    method = "autograd"
    description = "cross_entropy, backward(), torch.optim.SGD"
    dtypes = ("f32",)

    def upload(self):
        super().upload()
        self.theta.requires_grad_(True)
        self.optimizer = torch.optim.SGD([self.theta], lr=self.task.rate)

    def take(self, x, labels, right):
        with torch.enable_grad():
            logits = self.logits(self.theta, x)
            if self.trace:
                self.trace.end("forward")
            loss = functional.cross_entropy(logits, labels)
            if self.task.l2:
                loss = loss + self.task.l2 / 2 * self.theta[:-1].square().sum()
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
    description = "the gradient written out: two products"
    dtypes = ("f32",)

    def take(self, x, labels, right):
        task, weights = self.task, self.theta[:-1]
        logs = functional.log_softmax(self.logits(self.theta, x), 1)
        loss = functional.nll_loss(logs, labels)
        residuals = logs.exp() - right
        share = task.rate / len(x)
        if task.l2:
            loss = loss + task.l2 / 2 * weights.square().sum()
        self.note(loss)
        if task.l2:
            weights.mul_(1 - task.rate * task.l2)
        weights.sub_(torch.mm(x.T, residuals), alpha=share * task.scale)
        self.theta[-1].sub_(residuals.sum(0), alpha=share)


class Graph(Eager):
    method = "graph"
    description = "the operations of eager, captured into CUDA graphs of 100 steps"
    dtypes = ("f32",)
    execution = "graph"


class Tf32(Graph):
    method = "tf32"
    description = "graph, with products in tf32"
    dtypes = ("f32",)
    units = (("f32", "tf32 tensor"),)

    def upload(self):
        super().upload()
        if not self.task.pixels:
            raise Unsupported("takes pixels, which tf32 holds exactly")

    def capture(self):
        torch.set_float32_matmul_precision("high")
        graphs = super().capture()
        torch.set_float32_matmul_precision("highest")
        return graphs


class Compiled(Eager):
    method = "compiled"
    description = "torch.compile of a step of eager"
    dtypes = ("f32",)
    execution = "compiled"


class CompiledGraph(Eager):
    method = "compiled_graph"
    description = "the compiled step, captured into CUDA graphs of 100"
    dtypes = ("f32",)
    execution = "compiled_graph"


class EagerCpu(OnCpu, Eager):
    method = "eager_cpu"
    description = "eager, on the CPU"
    dtypes = ("f32",)
    kind = "host"


class AutogradCpu(OnCpu, Autograd):
    method = "autograd_cpu"
    description = "autograd, on the CPU"
    dtypes = ("f32",)
    kind = "host"
