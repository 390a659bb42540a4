# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training of the networks in PyTorch: autograd and torch.optim on tensors that stay on the device."""

import torch
from torch.nn import functional

from algorithms.cnn.peers import channels_last, training
from algorithms.cnn.peers.loading_torch import HostInput
from algorithms.cnn.peers.masks_torch import decisions_of, masks_of
from algorithms.cnn.peers.network_torch import Forward

#: State of an optimizer per parameter; the problem's state first.
STATE = {
    "adadelta": ("square_avg", "acc_delta"),
    "adam": ("exp_avg", "exp_avg_sq", "step"),
    "sgd": (),
}


class Training(Forward):
    """Steps on the device `place`; `before` and `seen` are those of the last step."""

    only = (("task", "train"), ("input", "device"))
    dtypes = ("f32",)
    #: Factors of the products of a captured step in tf32.
    tf32 = False
    #: "eager"; "compiled" by torch.compile; "graph": a step captured whole; "compiled_graph".
    execution = "eager"

    def upload(self):
        self.allow_tf32(self.tf32)
        torch.backends.cudnn.benchmark = self.channels_last
        self.task = task = training.task_of(self)
        on_device = getattr(self, "to_device", torch.from_numpy)  # a HostPeer has none

        def planes_of(images):
            laid_out = (
                channels_last.planes_of if self.channels_last else training.normalised
            )
            return on_device(laid_out(images, task.network))

        inputs = self.inputs
        self.host_input = None
        if self.parameters.get("input") == "host":
            workers = int(self.parameters["workers"])
            self.host_input = HostInput(inputs, task, self.place, workers)
        else:
            self.images = planes_of(inputs["train"])
            self.labels = on_device(inputs["train_labels"]).long()
        self.tests = planes_of(inputs["test"])
        self.test_labels = on_device(inputs["test_labels"]).long()
        self.order = on_device(inputs["order"]).flatten()
        self.streams = on_device(task.streams().view("i8"))
        self.counters = on_device(task.counters().view("i8"))
        self.loss = torch.empty(task.end, device=self.place)
        epochs = len(inputs["rates"]) if task.evaluates else 0
        self.correct = self.test_labels.new_empty(epochs)
        self.predictions = self.test_labels[: len(self.tests) if epochs else 0].clone()
        self.make_state(torch.from_numpy(inputs["initial"]).to(self.place))
        self.allow_tf32(False)

    def builds(self):
        return self.place.type == "cuda"  # `make_state` compiles, and takes a step

    @staticmethod
    def allow_tf32(allowed):
        torch.backends.cudnn.allow_tf32 = allowed
        torch.set_float32_matmul_precision("high" if allowed else "highest")

    def make_state(self, initial):
        """Makes weights, the optimizer, its state (made by its first step), and the compiled or captured step."""
        task, execution, network = self.task, self.execution, self.task.network
        self.recorded = self.place.type == "cuda" and execution != "eager"
        shapes = zip(initial.split(network.sizes), network.shapes, strict=True)
        weights = [values.view(shape).clone() for values, shape in shapes]
        if self.channels_last:
            filters = {"memory_format": torch.channels_last}
            weights = [w.to(**filters) if w.dim() == 4 else w for w in weights]
        start = [weight.clone() for weight in weights]
        self.weights = [weight.requires_grad_(True) for weight in weights]
        self.scores = self.logits  # an optimizer of several devices wraps the network
        self.optimizer = self.make_optimizer()
        self.update = self.optimizer.step
        self.forward, self.masks = self.loss_of, masks_of
        if execution.startswith("compiled"):
            self.forward = torch.compile(self.loss_of, dynamic=False)
        elif self.place.type == "cuda":
            self.masks = torch.compile(masks_of, dynamic=False)
        if self.host_input:
            self.host_input.start(range(1))
        self.take(0)
        of = [self.optimizer.state[weight] for weight in self.weights]
        state = [values[key] for key in STATE[task.optimizer] for values in of]
        self.live = [weight.detach() for weight in self.weights] + state
        self.start = start + [torch.zeros_like(values) for values in state]
        self.before = [torch.empty_like(values) for values in self.live]
        self.warm = False
        if execution.startswith("compiled") and self.recorded:
            self.compile_update()
        self.graphs = {}
        if execution.endswith("graph"):
            self.capture()

    def make_optimizer(self):
        """With capture the rate is a tensor, so that replays see it change."""
        rate = float(self.inputs["rates"][0])
        if self.recorded:
            rate = torch.tensor(rate, device=self.place)
        if self.task.optimizer == "sgd":
            return torch.optim.SGD(self.weights, lr=rate, fused=True)
        how = {"lr": rate, "capturable": self.recorded}
        if self.task.optimizer == "adam":
            how["eps"] = self.task.network.adam_epsilon
            return torch.optim.Adam(self.weights, fused=True, **how)
        return torch.optim.Adadelta(self.weights, foreach=True, **how)

    def compile_update(self):
        """Compiles Adadelta's step; the others are one kernel already."""
        if self.task.optimizer == "adadelta":
            self.update = torch.compile(self.optimizer.step)

    def batch_of(self, index):
        """Images and labels; from the host those of the next step, whatever the index."""
        if self.host_input:
            batch = self.host_input.next()
            if self.trace:
                self.trace.end("input")
            return batch
        return self.images.index_select(0, index), self.labels.index_select(0, index)

    def loss_of(self, index, stream):
        """The mean loss over these images, and the decisions; `stream`: of the step, for dropout."""
        masks = None
        if self.task.seed is not None:
            masks = self.masks(stream, self.counters[: len(index)])
        images, labels = self.batch_of(index)
        with self.products():
            logits, *seen = self.scores(images, masks)
        if self.execution.startswith("compiled"):  # fused into the kernels around
            seen = decisions_of(self.task.network, *seen)
        return functional.cross_entropy(logits.float(), labels), *seen

    def advance(self, index, stream):
        """A step on these images. Returns its loss."""
        self.optimizer.zero_grad()
        with torch.enable_grad():
            loss, *self.seen = self.forward(index, stream)
            if self.trace:
                self.trace.end("forward")
            loss.backward()
        if self.trace:
            self.trace.end("backward")
        self.update()
        if self.trace:
            self.trace.end("update")
        return loss.detach()

    def take(self, step):
        """A step, by the host's step counter."""
        first, images = self.task.first_of(step), self.task.images_of(step)
        index = self.order[first : first + images]
        self.loss[step] = self.advance(index, self.streams[step : step + 1])

    def take_next(self, images):
        """A step, by the device's step counter."""
        index = self.order.index_select(0, self.first + self.ramp[:images])
        loss = self.advance(index, self.streams.index_select(0, self.number))
        self.loss.index_copy_(0, self.number, loss.reshape(1))
        self.first.add_(images)
        self.number.add_(1)

    def capture(self):
        """One graph per number of images of a step, with its own gradients and decisions."""
        task = self.task
        self.ramp = torch.arange(task.batch, device=self.place)
        self.first, self.number = (self.ramp.new_zeros(1) for _ in range(2))
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        for step in {0, min(task.batches, task.end) - 1}:
            images = task.images_of(step)
            if images in self.graphs:
                continue
            with torch.cuda.stream(side):
                for _ in range(3):  # compiles and autotunes
                    self.count_from(step)
                    self.take_next(images)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=side):
                self.take_next(images)
            gradient = [weight.grad for weight in self.weights]
            self.graphs[images] = graph, self.seen, gradient
        torch.cuda.current_stream().wait_stream(side)

    def count_from(self, step):
        self.first.fill_(self.task.first_of(step))
        self.number.fill_(step)

    def run(self, begin, end):
        """These steps, from the saved state."""
        task = self.task
        torch._foreach_copy_(self.live, self.start)
        if self.graphs:
            self.count_from(begin)
        if self.host_input:
            self.host_input.start(range(begin, end))
        for step in range(begin, end):
            if step == begin or step % task.batches == 0:
                self.set_rate(float(self.inputs["rates"][step // task.batches]))
            if step + 1 == task.end:
                torch._foreach_copy_(self.before, self.live)
            if self.graphs:
                graph, self.seen, self.gradient = self.graphs[task.images_of(step)]
                graph.replay()
            else:
                self.take(step)
            if task.evaluates and task.ends_epoch(step):
                self.test(step // task.batches)

    def set_rate(self, rate):
        for group in self.optimizer.param_groups:
            if self.recorded:
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    @torch.no_grad()
    def test(self, epoch):
        parts = self.tests.split(training.TEST_BATCH)
        found = [self.logits(part)[0].argmax(1) for part in parts if len(part)]
        if found:
            self.predictions = torch.cat(found)
        self.correct[epoch] = (self.predictions == self.test_labels).sum()

    def reset(self):
        if not self.warm:
            self.run(0, self.task.warm_up)
            self.start = [values.clone() for values in self.live]
            self.warm = True
        self.loss.fill_(torch.nan)
        for values in (self.correct, self.predictions):
            values.fill_(-1)
        for values in self.before:
            values.fill_(torch.nan)

    def compute(self):
        self.run(self.task.warm_up, self.task.end)
        if not self.graphs:
            self.gradient = [weight.grad for weight in self.weights]

    def download(self):
        def flat(tensors):
            parts = [values.detach().flatten().cpu() for values in tensors]
            return torch.cat([torch.empty(0), *parts]).numpy()

        count, task = len(self.weights), self.task
        states = slice(count, count * (1 + task.states))
        seen = self.seen
        if not self.execution.startswith("compiled"):
            seen = decisions_of(task.network, *seen)
        results = {
            "loss": self.loss[task.warm_up :].cpu(),
            "weights": flat(self.live[:count]),
            "state": flat(self.live[states]),
            "weights_before": flat(self.before[:count]),
            "state_before": flat(self.before[states]),
            "gradient": flat(self.gradient),
            "pool_decisions": seen[0].cpu(),
            "hidden_decisions": seen[1].cpu(),
            "correct": self.correct.cpu(),
            "predictions": self.predictions.cpu(),
        }
        return training.outputs(task, results)
