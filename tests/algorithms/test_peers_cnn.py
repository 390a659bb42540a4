# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Peers of cnn: the last step against the network in double, straight from its definition."""

import itertools

import numpy as np
import pytest
from peer_support import HOST, Variant, follow_on_cpu, peer_of, run, variants

from algorithms.cnn.peers import training
from backends.python.peer import Device, Unsupported

NETWORKS = {"mnist": training.MNIST, "cifar10": training.CIFAR10}
SCALES = {"mnist": (0.1307, 0.3081, 1e-8), "cifar10": (0, 1, 1e-7)}
POOLS = {"mnist": (False, True), "cifar10": (True, True, False)}
RULE = {"batch": 3, "steps": 0, "epochs": 2, "warm_up": 0, "dropout": "on"}
RATES = {"sgd": 0.1, "adadelta": 1.0, "adam": 0.001}
SEED = -3


def random_bits(seed, stream, index):
    """The generator of algorithms/contract/random.hpp."""
    whole, golden = 2**64 - 1, 0x9E3779B97F4A7C15

    def mix(z):
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & whole
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & whole
        return z ^ (z >> 31)

    z = mix((seed + golden) & whole)
    for number in (stream, index):
        z = mix((z + number * golden) & whole)
    return z


def masks(step, images):
    """Dropout factors of mnist: [images x 9216], [images x 128]."""
    pooled, hidden = np.zeros((images, 9216)), np.zeros((images, 128))
    for image in range(images):
        words = [random_bits(SEED, 16 + step, image * 290 + i) for i in range(290)]
        for i in range(9216):
            pooled[image, i] = 4 / 3 * ((words[i // 32] >> 2 * (i % 32)) & 3 != 0)
        for i in range(128):
            hidden[image, i] = 2 * ((words[288 + i // 64] >> (i % 64)) & 1)
    return pooled, hidden


def convolved(x, filters, biases):
    patches = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    return (
        np.einsum("nchwyx,ocyx->nohw", patches, filters, optimize=True)
        + biases[:, None, None]
    )


def network(name, flat, images, masks_of_step):
    """Logits, decisions [images x decisions], hidden values."""
    of, (mean, deviation, _) = NETWORKS[name], SCALES[name]
    parts = np.split(flat.astype(float), np.cumsum(of.sizes)[:-1])
    w = [part.reshape(shape) for part, shape in zip(parts, of.shapes)]
    planes, side = w[0].shape[1], 28 if name == "mnist" else 32
    x = ((images / 255 - mean) / deviation).reshape(-1, planes, side, side)
    found = []
    for n, pools in enumerate(POOLS[name]):
        x = convolved(x, w[2 * n], w[2 * n + 1])
        (count, channels), half = x.shape[:2], x.shape[-1] // 2
        windows = x.reshape(*x.shape, 1)
        if pools:
            x = x[:, :, : 2 * half, : 2 * half]
            windows = x.reshape(count, channels, half, 2, half, 2).swapaxes(3, 4)
            windows = windows.reshape(count, channels, half, half, 4)
        decisions = windows.argmax(-1) + 4 * (windows.max(-1) > 0)
        found.append(decisions.reshape(count, -1))
        x = np.maximum(windows.max(-1), 0)
    if name == "mnist":
        found = found[1:]  # the first convolution's are none of the results
    x = x.reshape(len(x), -1) * masks_of_step[0]
    hidden = np.maximum(x @ w[-4].T + w[-3], 0)
    logits = hidden * masks_of_step[1] @ w[-2].T + w[-1]
    return logits, np.concatenate(found, 1), hidden


def mean_loss(logits, labels):
    logs = logits - logits.max(1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(1, keepdims=True))
    return -logs[np.arange(len(labels)), labels].mean()


def advanced(optimizer, weights, state, gradient, rate, count, epsilon):
    """Weights and state after step `count`, from 1."""
    w, g = weights.astype(float), gradient.astype(float)
    if optimizer == "sgd":
        return w - rate * g, np.empty((0, len(w)))
    a, b = state.astype(float)
    if optimizer == "adadelta":
        a = 0.9 * a + 0.1 * g * g
        change = g * np.sqrt(b + 1e-6) / np.sqrt(a + 1e-6)
        return w - rate * change, np.array([a, 0.9 * b + 0.1 * change * change])
    a, b = 0.9 * a + 0.1 * g, 0.999 * b + 0.001 * g * g
    means, squares = a / (1 - 0.9**count), b / (1 - 0.999**count)
    return w - rate * means / (np.sqrt(squares) + epsilon), np.array([a, b])


def data(name, optimizer):
    random, of = np.random.default_rng(1), NETWORKS[name]
    pixels = 784 if name == "mnist" else 3072
    spread = [(np.prod(shape[1:]) or 1) ** -0.5 for shape in of.shapes]
    parts = zip(spread, of.sizes)
    initial = [random.uniform(-by, by, size) * 0.5 for by, size in parts]
    order = np.array([random.permutation(7) for _ in range(2)])
    return {
        "train": random.integers(0, 256, (7, pixels)).astype(np.uint8),
        "train_labels": random.integers(0, 10, 7).astype(np.int32),
        "test": random.integers(0, 256, (5, pixels)).astype(np.uint8),
        "test_labels": random.integers(0, 10, 5).astype(np.int32),
        "initial": np.concatenate(initial).astype(np.float32),
        "order": order.astype(np.int32),
        "rates": (RATES[optimizer] * 0.7 ** np.arange(2)).astype(np.float32),
        "dropout_seed": np.array([SEED]),
    }


def judge(variant, optimizer, name="mnist", device=HOST, **changes):
    inputs, rule = data(name, optimizer), {**RULE, **changes}
    rule |= {"optimizer": optimizer, "network": name}
    found = run(variant, "cnn", inputs, device, **rule)
    steps = rule["steps"] or 2 * -(-7 // rule["batch"])
    last = rule["warm_up"] + steps - 1
    batch = rule["batch"]  # of 7 images per epoch
    epoch, number = divmod(last, -(-7 // batch))
    first, images = epoch * 7 + number * batch, min(batch, 7 - number * batch)
    index = inputs["order"].flatten()[first : first + images]
    before, gradient = found["weights_before"][0], found["gradient"][0]
    drops = name == "mnist" and rule["dropout"] == "on"
    of_step = masks(last, len(index)) if drops else (1, 1)

    def loss_at(weights):
        logits = network(name, weights, inputs["train"][index], of_step)[0]
        return mean_loss(logits, inputs["train_labels"][index])

    assert found["loss"].shape == (steps,)
    np.testing.assert_allclose(found["loss"][-1], loss_at(before), rtol=1e-4)
    random = np.random.default_rng(2)
    ends = np.cumsum([0, *NETWORKS[name].sizes])
    for begin, end in itertools.pairwise(ends):
        way = np.zeros(ends[-1])
        way[begin:end] = gradient[begin:end] + random.normal(0, 1e-3, end - begin)
        way *= 1e-8 / np.abs(way).max()  # small enough that no maximum changes
        slope = (loss_at(before + way) - loss_at(before - way)) / 2
        size = np.linalg.norm(gradient[begin:end]) * np.linalg.norm(way)
        np.testing.assert_allclose(gradient @ way, slope, rtol=0, atol=2e-3 * size)
    _, places, hidden = network(name, before, inputs["train"][index], of_step)
    assert found["pool_decisions"].shape == places.shape
    assert (found["pool_decisions"] != places).mean() < 1e-3  # roundings
    assert (found["hidden_decisions"] != (hidden > 0)).mean() < 1e-2
    now, state = advanced(
        *(optimizer, before, found["state_before"], gradient),
        *(inputs["rates"][epoch], last + 1, SCALES[name][2]),
    )
    np.testing.assert_allclose(found["weights"][0], now, rtol=1e-6, atol=1e-7)
    for found_row, row in zip(found["state"], state, strict=True):
        bound = 1e-6 * np.abs(row).max()  # for cancellation in sums
        np.testing.assert_allclose(found_row, row, rtol=1e-5, atol=bound)
    tests = 0 if rule["steps"] else 2
    assert found["correct"].shape == (tests,)
    if tests:
        logits = network(name, found["weights"][0], inputs["test"], (1, 1))[0]
        assert found["predictions"].tolist() == logits.argmax(1).tolist()
        right = (found["predictions"] == inputs["test_labels"]).sum()
        assert found["correct"][-1] == right


@pytest.mark.parametrize("optimizer", RATES)
@pytest.mark.parametrize("variant", variants("cnn"))
def test_epochs(variant: Variant, optimizer: str):
    judge(variant, optimizer)


@pytest.mark.parametrize("variant", variants("cnn"))
def test_colour(variant: Variant):
    if variant[1] == "routed":
        pytest.skip("the network mnist only")
    judge(variant, "adam", "cifar10")


@pytest.mark.parametrize(("steps", "warm_up"), [(1, 0), (3, 2)])
@pytest.mark.parametrize("variant", variants("cnn"))
def test_steps(variant: Variant, steps: int, warm_up: int):
    judge(variant, "adadelta", steps=steps, warm_up=warm_up, dropout="off")


def first_gradient(model, name):
    """Of each tensor, and the pool's decisions."""
    rule = {**RULE, "optimizer": "adam", "network": name, "steps": 1}
    found = run((model, "cpu", "f32"), "cnn", data(name, "adam"), **rule)
    parts = np.split(found["gradient"][0], np.cumsum(NETWORKS[name].sizes)[:-1])
    return parts, found["pool_decisions"]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("model", ["pytorch", "jax"])
def test_products_in_bf16(monkeypatch, model, name):
    """What compiled_graph_bf16 and scan_bf16 do, on the CPU."""
    exact, places = first_gradient(model, name)
    monkeypatch.setattr(peer_of("cnn", model, "cpu"), "bf16", True)
    rounded, places_of_rounded = first_gradient(model, name)
    apart = [
        np.linalg.norm(found - wanted) / np.linalg.norm(wanted)
        for found, wanted in zip(rounded, exact, strict=True)
    ]
    assert max(apart) < 0.2
    assert min(apart[::2]) > 1e-3  # of weights; 2^-8 is 4e-3
    assert 0 < (places_of_rounded != places).mean() < 0.05


@pytest.mark.parametrize(
    ("model", "method"), [("pytorch", "compiled_graph_bf16"), ("jax", "scan_bf16")]
)
def test_methods_in_bf16_are_judged_as_such(model, method):
    peer = peer_of("cnn", model, method)
    assert peer.bf16
    assert peer.forms == (("gradient", "bf16 all"),)


DDP = ("pytorch", "distributed", "f32")


@pytest.mark.parametrize("name", NETWORKS)
def test_processes_take_their_shares_of_a_batch(monkeypatch, name):
    """Batches of 4 and 3 images: shares of 2 and 2, 1 and 2."""
    peer_of("cnn", "pytorch", "distributed")
    from algorithms.cnn.peers import distributed_torch

    monkeypatch.setattr(distributed_torch, "follow", follow_on_cpu)
    two = Device("gpu", indices=(0, 1))
    judge(DDP, "adam", name, two, batch=4, steps=4, warm_up=0)
    judge(DDP, "adadelta", name, two, batch=4, epochs=2)


def test_a_batch_that_some_process_has_no_image_of_is_refused(monkeypatch):
    peer_of("cnn", "pytorch", "distributed")
    from algorithms.cnn.peers import distributed_torch

    monkeypatch.setattr(distributed_torch, "follow", follow_on_cpu)
    with pytest.raises(Unsupported, match="fewer images than there are devices"):
        judge(DDP, "sgd", device=Device("gpu", indices=(0, 1)))


def test_random_words_are_those_of_the_contract():
    task = training.Task(7, 3, 0, 2, False, "sgd", SEED)
    words = training.mix(task.streams()[1] + task.counters())
    expected = [random_bits(SEED, 17, i) for i in range(3 * training.WORDS)]
    assert words.flatten().tolist() == expected


@pytest.mark.parametrize(
    ("images", "batch", "begin", "end", "cuts"),
    [
        (7, 3, 0, 6, [(0, 0, 2, 3), (2, 6, 1, 1), (3, 7, 2, 3), (5, 13, 1, 1)]),
        (7, 3, 1, 4, [(1, 3, 1, 3), (2, 6, 1, 1), (3, 7, 1, 3)]),
        (6, 3, 0, 3, [(0, 0, 2, 3), (2, 6, 1, 3)]),
        (2, 2, 0, 2, [(0, 0, 1, 2), (1, 2, 1, 2)]),
        (7, 3, 2, 2, []),
    ],
)
def test_runs_of_equal_steps(images, batch, begin, end, cuts):
    task = training.Task(images, batch, 0, end, False, "sgd", None)
    wanted = [training.Run(*cut) for cut in cuts]
    assert list(task.runs(begin, end)) == wanted


@pytest.mark.parametrize("method", ["eager", "cpu"])
def test_batches_from_the_host(method):
    judge(("pytorch", method, "f32"), "adadelta", input="host", workers=2)


@pytest.mark.parametrize("method", ["cpu", "scan"])
def test_batches_from_the_host_are_refused(method):
    with pytest.raises(Unsupported, match="takes input = device only"):
        peer_of("cnn", "jax", method)({}, {"input": "host"}, Device())


@pytest.mark.parametrize(("model", "method"), [("pytorch", "cpu"), ("jax", "cpu")])
def test_another_task_is_refused(model, method):
    with pytest.raises(Unsupported, match="takes task = train only"):
        peer_of("cnn", model, method)({}, {"task": "inference"}, Device())
