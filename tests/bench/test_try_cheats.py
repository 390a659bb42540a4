# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`league try`: Python functions that do not compute each time are FAILED rows; those that do pass."""

import pytest

from tests.bench.test_try import LEAGUE, PLANTED, league_try

pytestmark = pytest.mark.skipif(not LEAGUE.exists(), reason="no build/openmp/league")
FEW = ["--set", "samples=10", "--set", "models=openmp", "--set", "sizes=300001"]
#: What the reason says, any of these: which look finds it first is drawn.
CHEATS = {
    "memo": ("wrong", "altered just before"),
    "former": ("wrong", "altered just before"),
    "poisoned": ("altered just before",),
    "spots": ("altered just before",),
    "every_second": ("wrong", "altered just before"),
    "first_calls": ("altered just before",),
    "content": ("it keeps its results", "it does not compute"),
    "short_range": ("it replaces builtins.range, by which",),
    "deferred": ("wrong", "still changing"),
    "half_clock": ("it replaces time.perf_counter, by which",),
    "late_clock": ("it replaces time.perf_counter_ns, by which",),
    "latency": ("it replaces backends.python.peer.Peer.latency, by which",),
    "lazy": ("'sum' is own_kernel.Lazy, not numpy.ndarray",),
    "subclass": ("'sum' is own_kernel.Sum",),
}


def test_each_planted_function_is_tried():
    assert sorted(CHEATS) == sorted(p.stem for p in PLANTED.glob("cheats/*.py"))


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_a_failed_row(name, tmp_path):
    file = PLANTED / f"cheats/{name}.py"
    done, rows = league_try(
        *(file, "--as", "vector_add", *FEW), records=tmp_path / "records", code=1
    )
    row = rows[f"your_python {name}"]
    assert row["status"] == "failed", row
    assert any(text in row["reason"] for text in CHEATS[name]), row["reason"]
    assert f"FAILED: {row['reason']}" in done.stdout
    assert rows["openmp plain"]["status"] == "passed"


@pytest.mark.parametrize("name", sorted(p.stem for p in PLANTED.glob("honest/*.py")))
def test_an_honest_function_passes(name, tmp_path):
    if name.startswith("numba"):
        pytest.importorskip("numba")
    file = PLANTED / f"honest/{name}.py"
    for run in range(3):
        _, rows = league_try(
            *(file, "--as", "vector_add", *FEW), records=tmp_path / str(run), code=0
        )
        assert rows[f"your_python {name}"]["status"] == "passed"
