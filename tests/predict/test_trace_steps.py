# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``league run --trace-steps``: the file, through the executable of the preset openmp."""

import re
import subprocess
from pathlib import Path

import pytest

from bench.predict.calls import by_algorithm, read_trace

LEAGUE = Path(__file__).resolve().parents[2] / "build" / "openmp" / "league"
SOLVE = """algorithm = "logistic_regression"
methods = "fused"
models = "serial"
sizes = { rows = 1001, features = 4 }
steps = 2
devices = 2
"""
STENCIL = """algorithm = "stencil"
methods = "plain"
models = "openmp"
sizes = 8
steps = 2
devices = 3
"""
SUM = """algorithm = "sum"
methods = "two_stage"
models = "openmp"
sizes = 100000
devices = 2
"""
SOFTMAX = """algorithm = "softmax_regression"
methods = "fused"
models = "openmp"
dataset = "generated"
sizes = { train = 500, test = 10, features = 20 }
dtypes = "f32"
steps = 3
devices = 2
"""
GOLDEN = """\
# League: time-independent trace of one compute, for SimGrid's smpirun -replay; times in ns
# case logistic_regression/method:fused/model:serial/dtype:f32/rows:1001/features:4/steps:2/devices:2/launch:auto
# device D
# rows 501 500
0 init
0 compute T
0 compute T
0 allreduce 48 0 6
0 compute T
0 compute T
0 allreduce 48 0 6
0 compute T
0 finalize
1 init
1 compute T
1 compute T
1 allreduce 48 0 6
1 compute T
1 compute T
1 allreduce 48 0 6
1 compute T
1 finalize
"""


def trace(tmp_path, study, *words):
    """Outcome and trace of a study."""
    if not LEAGUE.exists():
        pytest.skip(f"no {LEAGUE.name} of the preset openmp is built")
    (tmp_path / "study.toml").write_text(study)
    file = tmp_path / "steps.trace"
    command = [LEAGUE, "run", tmp_path / "study.toml", "--trace-steps", file, *words]
    done = subprocess.run(
        command, check=False, cwd=tmp_path, capture_output=True, text=True
    )
    return done, file


def traced(tmp_path, study):
    done, file = trace(tmp_path, study)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "records").exists(), "a trace is no measurement"
    return file


def test_the_file_of_a_solve(tmp_path):
    text = traced(tmp_path, SOLVE).read_text()
    times = [int(t) for t in re.findall(r"compute (\d+)", text)]
    assert all(0 < time < 10**9 for time in times)
    text = re.sub(r"compute \d+", "compute T", text)
    assert re.sub(r"# device .+", "# device D", text) == GOLDEN


def test_halos_and_gathers(tmp_path):
    lines = traced(tmp_path, STENCIL).read_text().splitlines()
    calls = [line for line in lines if line.startswith("1 ") and "compute" not in line]
    step = ["1 isend 0 0 256 6", "1 isend 2 0 256 6", "1 irecv 0 0 256 6"]
    step = [*sorted(step), "1 irecv 2 0 256 6", "1 waitall"]
    found = [sorted(calls[i : i + 4]) + [calls[i + 4]] for i in (1, 6)]
    assert found == [sorted(step[:4]) + step[4:]] * 2
    assert sum("waitall" in line for line in lines) == 3 * 2, (
        "two steps of three shards"
    )
    text = traced(tmp_path, SUM).read_text()
    assert "0 gather 104 104 0 6 6\n0 compute" in text, "shard 0 adds what it got"
    assert "1 gather 104 104 0 6 6\n1 finalize" in text


class Like:
    """What `by_algorithm` asks a case."""

    def __init__(self, algorithm, sizes, steps=1, dtype="f32"):
        self.algorithm, self.sizes, self.dtype = algorithm, sizes, dtype
        self.parameters, self.comparison, self.name = {"steps": steps}, "", algorithm


@pytest.mark.parametrize(
    ("study", "like"),
    [
        (SOLVE, Like("logistic_regression", {"rows": 1001, "features": 4}, 2)),
        (STENCIL, Like("stencil", {"n": 8}, 2)),
        (SOFTMAX, Like("softmax_regression", {"train": 500, "features": 20}, 3)),
        (SUM.replace("100000", "10000000"), Like("sum", {"n": 10000000})),
    ],
)
def test_the_calls_that_are_known_without_a_trace(tmp_path, study, like):
    (call,) = read_trace(traced(tmp_path, study)).calls
    (known,) = by_algorithm(like)
    assert (known.kind, known.count) == (call.kind, call.count)
    assert known.bytes == pytest.approx(call.bytes, rel=0.05)


def test_refuses_what_it_cannot_trace(tmp_path):
    done, file = trace(tmp_path, SOLVE.replace("devices = 2", "devices = [1, 2]"))
    assert (done.returncode, file.exists()) == (2, False)
    assert "takes one case, not 2: choose it with --benchmark_filter" in done.stderr
    done, file = trace(tmp_path, SOLVE.replace('models = "serial"', 'models = "cuda"'))
    assert (done.returncode, file.exists()) == (2, False)
    done, _ = trace(
        tmp_path,
        SOLVE.replace("devices = 2", "devices = [1, 2]"),
        "--benchmark_filter=devices:2",
    )
    assert done.returncode == 0
