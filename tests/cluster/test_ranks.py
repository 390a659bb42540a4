# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Studies on several ranks of this machine: mpirun -n N league run."""

import hashlib
import json
import math
import re
import struct
import subprocess

import pytest
from cluster_support import LEAGUE, nightly
from ranks_support import ENVIRONMENT, finished, mpirun, rows_of, with_mpi

pytestmark = with_mpi

# Every algorithm; `any` sums and atomic additions have an order of their own: those of flat solves run, without bits.
OWN_ORDER = re.compile("(regression|fit),method:flat,")
STUDY = """
samples = 1
null = false
launches = "auto"
devices = 8
models = ["kokkos", "openmp"]

[[cases]]
algorithm = "vector_add"
sizes = [3, 1001]

[[cases]]
algorithm = "sum"
sizes = [3, 100003]

[[cases]]
algorithm = "distance_matrix"
sizes = { n = 61, dimension = 3 }

[[cases]]
algorithm = "knn"
dataset = "generated"
sizes = { train = 203, test = 61, features = 16 }

[[cases]]
algorithm = "polynomial_fit"
methods = "-moments"
sizes = 203
steps = 20

[[cases]]
algorithm = "linear_regression"
methods = ["-atomic", "-normal_equations", "-normal_mma", "-moments"]
execution = ["stream", "graph"]
sizes = { points = 1003, features = 3 }
steps = 7

[[cases]]
algorithm = "logistic_regression"
sizes = { rows = 1003, features = 3 }
steps = 7

[[cases]]
algorithm = "softmax_regression"
dataset = "generated"
sizes = { train = 203, test = 61, features = 16 }
steps = 5

[[cases]]
algorithm = "stencil"
execution = ["stream", "graph"]
sizes = 17
steps = 5

[[cases]]
algorithm = "cnn"
dataset = "generated"
sizes = { train = 31, test = 10 }
batch = 8
steps = 3
"""


def hashes(folder):
    """Of all results, by the case without its ranks."""
    return {
        (
            ",".join(
                word for word in case.name.split(",") if not word.startswith("ranks:")
            ),
            file.name,
        ): hashlib.sha256(file.read_bytes()).hexdigest()
        for case in folder.iterdir()
        if not OWN_ORDER.search(case.name)
        for file in case.glob("*.npy")
    }


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The study in one process: its folder."""
    folder = tmp_path_factory.mktemp("alone")
    (folder / "study.toml").write_text(STUDY)
    words = [
        LEAGUE,
        "run",
        folder / "study.toml",
        "--records",
        folder / "records",
        "--save-results",
        folder / "results",
    ]
    subprocess.run(
        list(map(str, words)), env=ENVIRONMENT, check=True, capture_output=True
    )
    return folder


@pytest.mark.parametrize(
    "ranks", [pytest.param(2, marks=nightly), pytest.param(4, marks=nightly), 8]
)
def test_every_algorithm_has_the_bits_of_one_process(ranks, alone, tmp_path):
    words = [
        "run",
        alone / "study.toml",
        "--records",
        tmp_path / "records",
        "--save-results",
        tmp_path / "results",
    ]
    code, _, err = finished(mpirun(ranks, *words))
    assert code == 0, err
    rows = rows_of(tmp_path / "records")
    assert {row["ranks"] for row in rows.values()} == {ranks}
    ran = {row["algorithm"] for row in rows.values() if row["status"] == "passed"}
    assert ran == {row["algorithm"] for row in rows_of(alone / "records").values()}
    own, together = hashes(alone / "results"), hashes(tmp_path / "results")
    assert len(together) > 100
    assert {case: together[case] for case in together} == {
        case: own[case] for case in together
    }


@pytest.mark.parametrize(
    "ranks", [2, pytest.param(3, marks=nightly), pytest.param(8, marks=nightly)]
)
def test_what_ranks_say_to_each_other(ranks):
    names = "OverRanks.*:Engines/Collectives.EveryOperationOfEveryTypeAndSize/mpi*:Engines/Communicating.Gathers*/mpi_on_2*"
    code, out, err = finished(
        mpirun(
            ranks, f"--gtest_filter={names}", executable=LEAGUE.parent / "league_tests"
        )
    )
    assert code == 0, out + err


def test_an_error_on_one_rank_is_a_row_of_all(tmp_path):
    few = [
        part
        for part in STUDY.split("[[cases]]")
        if "algorithm" not in part or "sum" in part or "linear" in part
    ]
    (tmp_path / "study.toml").write_text(
        "[[cases]]".join(few).replace("devices = 8", "devices = 3")
    )
    words = ["run", tmp_path / "study.toml", "--records", tmp_path / "records"]
    faults = LEAGUE.parent / "league_faults"
    code, _, err = finished(
        mpirun(3, *words, executable=faults, LEAGUE_FAULT="one_rank_fails")
    )
    assert code == 1, err
    rows = [
        row
        for row in rows_of(tmp_path / "records").values()
        if row["status"] != "skipped"
    ]
    assert len(rows) > 15
    for row in rows:
        assert row["status"] == "failed", row["name"]
        assert row["reason"].startswith("rank 1 on "), row["reason"]
        assert row["reason"].endswith(": its memory is full of holes"), row["reason"]


def test_rank_0_decides_when_samples_are_enough(tmp_path):
    (tmp_path / "study.toml").write_text(
        'algorithm = "vector_add"\nmodels = ["kokkos", "openmp"]\nmethods = "plain"\n'
        'sizes = [100, 100003]\ndevices = 4\nsamples = "auto"\nmax_noise = 0.001\n'
    )
    words = ["run", tmp_path / "study.toml", "--records", tmp_path / "records"]
    for limit, most in (("1e-9", 6), ("0.5", 1000)):
        code, _, err = finished(mpirun(2, *words, "--set", f"time_limit={limit}"))
        assert code == 0, err
        rows = rows_of(tmp_path / "records").values()
        assert len(rows) == 6  # null tests too
        for size in (100, 100003):
            counts = {len(r["samples"]) for r in rows if r["sizes"]["n"] == size}
            assert len(counts) == 1 and 6 <= counts.pop() <= most


def refusal(tmp_path, *ranks):
    """What several ranks with words of their own end with: the exit code, and league's own lines."""
    return told(
        " : ".join(
            f"-n 1 {LEAGUE} run {words} --records {tmp_path}/records" for words in ranks
        )
    )


def told(words):
    """The exit code of mpirun with these words, and the errors that league prints."""
    done = subprocess.run(
        ["mpirun", "--oversubscribe", *words.split()],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, [
        line for line in done.stderr.splitlines() if line.startswith("league: ")
    ]


def test_ranks_that_are_not_one_run_are_told_in_one_line(tmp_path):
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    one.write_text('algorithm = "sum"\nsizes = 100\n')
    other.write_text('algorithm = "sum"\nsizes = 101\n')
    code, lines = refusal(tmp_path, one, other)
    assert (code, len(lines)) == (2, 1), lines
    assert "rank 1 on " in lines[0] and "not what rank 0 runs" in lines[0]
    code, lines = refusal(tmp_path, one, one, tmp_path / "none.toml")
    assert (code, len(lines)) == (2, 1), lines
    assert "rank 2 on " in lines[0] and "there is no study" in lines[0]
    code, lines = refusal(tmp_path, f"{one} --nope", f"{one} --nope")
    assert (code, len(lines)) == (2, 1), lines
    assert not (tmp_path / "records").exists()


def test_a_data_file_that_one_rank_lacks_is_told_in_one_line(tmp_path):
    for rank in range(4):
        folder = tmp_path / str(rank) / "mnist"
        folder.mkdir(parents=True)
        for part in ("train", "t10k") if rank != 3 else ("train",):
            shape = (8, 28, 28)
            head = struct.pack(">4I", 0x803, *shape)
            images = folder / f"{part}-images-idx3-ubyte"
            images.write_bytes(head + bytes(math.prod(shape)))
            labels = folder / f"{part}-labels-idx1-ubyte"
            labels.write_bytes(struct.pack(">2I", 0x801, 8) + bytes(range(8)))
    (tmp_path / "study.toml").write_text(
        'algorithm = "knn"\nmodels = "openmp"\nmethods = "fused"\nnull = false\n'
        "sizes = { train = 12, test = 4 }\n"
    )
    run = f"{LEAGUE} run {tmp_path}/study.toml --data . --records {tmp_path}/records"
    words = " : ".join(f"-n 1 --wdir {tmp_path}/{rank} {run}" for rank in range(4))
    code, lines = told(words)
    assert (code, len(lines)) == (2, 1), lines
    assert "rank 3 on " in lines[0] and "t10k-images-idx3-ubyte" in lines[0]
    words = words.replace(f"{tmp_path}/3 ", f"{tmp_path}/2 ")
    assert told(words)[0] == 0


def test_what_each_rank_was_given_is_printed_once_and_recorded(tmp_path):
    (tmp_path / "study.toml").write_text(
        'algorithm = "sum"\nmethods = "two_stage"\nsizes = 100\nmodels = "openmp"\n'
    )
    words = ["run", tmp_path / "study.toml", "--records", tmp_path / "records"]
    code, _, err = finished(mpirun(2, *words, OMP_NUM_THREADS="64"))
    assert code == 0, err
    lines = [line for line in err.splitlines() if "league: rank " in line]
    assert [line.split(" on ")[0] for line in lines] == [
        "league: rank 0",
        "league: rank 1",
    ]
    (record,) = (tmp_path / "records").glob("[0-9]*.json")
    told = json.loads(record.read_text())
    places = told["context"]["league"]["ranks"]
    assert [(place["rank"], place["threads"]) for place in places] == [
        (0, 64),
        (1, 64),
    ]
    assert all(place["cores"] for place in places)
    assert told["context"]["league"]["nodes"] == 1
    assert {row["nodes"] for row in told["benchmarks"]} == {1}
    found = told["context"]["league"]["preflight"]
    assert any("the 2 ranks on " in text and "128 threads" in text for text in found)


def test_devices_are_shared_evenly_or_not_at_all(tmp_path):
    (tmp_path / "study.toml").write_text(
        'algorithm = "sum"\nmethods = "two_stage"\nsizes = 100\nmodels = "openmp"\n'
        "devices = [3, 4]\nnull = false\n"
    )
    code, _, err = finished(
        mpirun(2, "run", tmp_path / "study.toml", "--records", tmp_path / "records")
    )
    assert code == 0, err
    for row in rows_of(tmp_path / "records").values():
        if row["devices"] == 3:
            assert row["reason"] == "3 devices for 2 ranks: each takes as many"
        elif row["status"] == "passed":
            assert row["engines"] == ["mpi"]
            assert len(row["per_device_s"]) == 4
