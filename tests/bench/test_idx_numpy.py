# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""IDX files, whole and damaged: `league` takes those that NumPy takes, and holds the same values."""

import gzip
import os
import random
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
LEAGUE = ROOT / "build/openmp/league"
TRIES = int(os.environ.get("LEAGUE_IDX_TRIES", "30"))
STUDY = """
algorithm = "knn"
methods = "direct"
models = "serial"
dtypes = "u8"
split = "predefined"
k = 1
samples = 1
null = false
"""


def written(array):
    """An IDX file of unsigned bytes."""
    return (
        bytes([0, 0, 8, array.ndim])
        + np.array(array.shape, ">u4").tobytes()
        + array.tobytes()
    )


def read(content, dimensions):
    """The array that NumPy finds in a file; ValueError if there is none."""
    data = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    if data[:4] != bytes([0, 0, 8, dimensions]):
        raise ValueError("magic")
    shape = np.frombuffer(data, ">u4", dimensions, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def packed(data, rng):
    """As it is, or as one gzip file or two behind each other."""
    cut = rng.randrange(len(data))
    return rng.choice(
        [
            data,
            gzip.compress(data),
            gzip.compress(data[:cut]) + gzip.compress(data[cut:]),
        ]
    )


def damaged(data, rng):
    """Cut, with a byte changed, or longer; behind gzip's data anything may follow for `league`, as for gzip."""
    place = rng.randrange(len(data))
    changed = data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    longer = data if data[:2] == b"\x1f\x8b" else data + b"\1"
    return rng.choice([data[:place], changed, longer])


def taken(arrays):
    """What `league` must hold of the four files; None if one is wrong."""
    try:
        images = [read(arrays[part, "images"], 3) for part in ("train", "t10k")]
        labels = [read(arrays[part, "labels"], 1) for part in ("train", "t10k")]
    except (ValueError, OSError, EOFError, gzip.zlib.error):
        return None
    same = images[0].shape[1:] == images[1].shape[1:]
    same = same and all(
        len(some) == len(other) for some, other in zip(images, labels, strict=True)
    )
    return (
        {
            "train": images[0],
            "test": images[1],
            "train_labels": labels[0],
            "test_labels": labels[1],
        }
        if same
        else None
    )


@pytest.mark.skipif(not LEAGUE.exists(), reason="no build/openmp/league")
@pytest.mark.parametrize("seed", range(TRIES))
def test_league_holds_what_numpy_holds(tmp_path, seed):
    rng, draw = random.Random(seed), np.random.default_rng(seed)
    shape, files = draw.integers(1, 6, 2), {}
    for part in ("train", "t10k"):
        rows = rng.randint(1, 9)
        whole = {
            "images": draw.integers(0, 256, (rows, *shape)),
            "labels": draw.integers(0, 10, rows),
        }
        for kind, array in whole.items():
            files[part, kind] = packed(written(array.astype(np.uint8)), rng)
    if seed % 3 == 0:
        which = rng.choice(list(files))
        files[which] = damaged(files[which], rng)
    (tmp_path / "mnist").mkdir()
    for (part, kind), content in files.items():
        (
            tmp_path / f"mnist/{part}-{kind}-idx{3 if kind == 'images' else 1}-ubyte"
        ).write_bytes(content)
    (tmp_path / "study.toml").write_text(STUDY)
    command = [LEAGUE, "run", "study.toml", "--data", tmp_path, "--save-inputs", "in"]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    expected = taken(files)
    if expected is None:
        assert done.returncode == 2, done.stderr
        assert "at byte" in done.stderr or "differ in size" in done.stderr
        return
    assert done.returncode == 0, done.stderr
    for name, array in expected.items():
        (found,) = (tmp_path / "in").glob(f"*/input_{name}.npy")
        assert np.array_equal(np.load(found).ravel(), array.ravel())
