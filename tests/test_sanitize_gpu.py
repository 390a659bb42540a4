# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tests/sanitize_gpu around programs that stand for league and compute-sanitizer: findings, failures, resuming."""

import json
import os
import signal
import time

import pytest
from sanitize_support import Bench, parameter
from sanitizer.outcome import findings_of
from sanitizer.units import shapes_of, variants_of

ONE_TOOL = ("--tools", "memcheck", "--jobs", "2")


@pytest.fixture
def bench(tmp_path):
    return lambda *methods, gpus=1: Bench(tmp_path, methods, gpus)


def test_clean_variants_pass(bench):
    here = bench("direct", "fused")
    code, out, err = here.run("--jobs", "2")
    assert (code, err) == (0, "")
    assert "8 units (a variant under a tool), 8 clean" in out
    row = "| knn/fused/cuda | 0 | 0 | 0 | 0 | 40 | 0 | 0 |"
    assert row in (here.output / "summary.md").read_text().splitlines()
    assert len(here.units()) == 8
    assert all(one["passed"] == 10 and one["clean"] for one in here.units().values())
    assert "openmp" not in out and "hip" not in out


def test_errors_and_hazards_are_counted_and_shown(bench):
    here = bench("direct", "errors", "hazards")
    code, out, _ = here.run("--tools", "memcheck,racecheck", "--jobs", "2")
    assert code == 1
    assert "| knn/errors/cuda | 3 | 0 |" in out
    assert "| knn/hazards/cuda | 0 | 1, 2 warning(s) |" in out
    assert "| knn/direct/cuda | 0 | 0 |" in out
    assert "Invalid __global__ read of size 4 bytes at void league::cuda::direct" in out
    assert "Race reported between Write access at void add()+0x1b0 in sum.cu:10" in out
    assert here.units()["knn/errors/cuda", "memcheck"]["errors"] == 3


def test_what_shows_nothing_is_no_pass(bench):
    here = bench("breaks", "dies", "bad_input", "lacks", "wrong")
    code, out, _ = here.run(*ONE_TOOL)
    assert code == 1
    units = {name.split("/")[1]: one for (name, _), one in here.units().items()}
    assert not any(one["clean"] for one in units.values())
    assert units["breaks"]["broken"].startswith("crashed: Internal Sanitizer Error")
    assert units["dies"]["broken"].startswith("crashed: no summary of memcheck")
    assert units["dies"]["passed"] == 1
    assert units["bad_input"]["broken"].startswith("crashed: exit code 2")
    assert "| knn/lacks/cuda | 0, no case ran |" in out
    assert "| knn/wrong/cuda | 0, 1 case(s) FAILED |" in out
    assert "wrong before sampling: value 3: knn/wrong/f32/0/1" in out


def test_a_unit_beyond_its_time_is_ended(bench):
    here = bench("slow")
    code, out, _ = here.run(*ONE_TOOL, "--timeout", "2")
    assert code == 1
    assert "| knn/slow/cuda | timed out |" in out
    assert ended(int((here.folder / "pid").read_text()))


def test_cases_that_say_nothing_of_the_kernel_are_listed(bench):
    here = bench("ill_posed", "skips", gpus=2)
    code, out, _ = here.run(*ONE_TOOL, "--devices", "2")
    assert code == 0
    assert "| knn/ill_posed/cuda | 0 | 16 | 4 | 0 |" in out
    assert "| knn/skips/cuda | 0 | 10 | 0 | 10 |" in out
    assert "k = 3: there are 1 training rows: knn/ill_posed/f32/0/1 and 3 more" in out
    assert "needs one device: knn/skips/f32/0/2 and 9 more" in out


def test_a_record_that_lacks_is_no_pass(bench):
    here = bench("direct")
    text = here.league.read_text()
    here.league.write_text(text.replace("enumerate(cases)", "enumerate(cases[1:])"))
    code, out, _ = here.run(*ONE_TOOL)
    assert code == 1
    assert "incomplete: 9 of 10 cases were recorded" in out


def ended(process):
    """Whether it is gone, or will be: it was killed."""
    for _ in range(1000):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


def interrupted(here, kind):
    """Ends a run by a signal, as soon as its slow unit has begun; another was recorded before."""
    process = here.start("--tools", "memcheck", "--jobs", "1")
    while not (here.folder / "pid").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(kind)
    process.communicate()
    return process.returncode, int((here.folder / "pid").read_text())


def test_two_runs_into_one_folder_are_refused(bench):
    here = bench("slow")
    first = here.start(*ONE_TOOL)
    while not (here.folder / "pid").exists() and first.poll() is None:
        time.sleep(0.01)
    code, _, err = here.run(*ONE_TOOL)
    first.send_signal(signal.SIGTERM)
    first.communicate()
    assert code == 2 and "another run writes to" in err


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_goes_on(bench, kind):
    here = bench("direct", "slow")
    code, league = interrupted(here, kind)
    assert code == 130
    assert ended(league)
    assert "1 not run yet" in (here.output / "summary.md").read_text()
    here.write("quick", "")
    code, out, _ = here.run("--tools", "memcheck")
    assert code == 0, out
    assert here.calls() == ["direct", "slow", "slow"]
    assert "2 units, 1 done before" in out


def test_a_killed_run_goes_on_behind_its_last_whole_line(bench):
    here = bench("direct", "slow")
    code, league = interrupted(here, signal.SIGKILL)
    assert code == -signal.SIGKILL
    os.kill(league, signal.SIGKILL)
    with (here.output / "units.jsonl").open("a") as state:
        state.write('{"key": "cut')
    here.write("quick", "")
    code, out, _ = here.run("--tools", "memcheck")
    assert code == 0, out
    assert here.calls() == ["direct", "slow", "slow"]
    assert here.run("--tools", "memcheck")[0] == 0
    assert len(here.calls()) == 3, "all is known now"


def test_what_broke_runs_again_and_another_executable_is_not_believed(bench):
    here = bench("direct", "breaks")
    assert here.run(*ONE_TOOL)[0] == 1
    assert here.run(*ONE_TOOL)[0] == 1
    assert sorted(here.calls()) == ["breaks", "breaks", "direct"]
    here.league.write_text(here.league.read_text() + "# another build\n")
    here.run(*ONE_TOOL)
    assert here.calls().count("direct") == 2


def test_bad_usage(bench):
    here = bench("direct")
    for options, what in (
        (("--tools", "memchek"), "--tools memchek: takes a list of memcheck"),
        (("--filter", "("), "--filter (: "),
        (("--filter", "^sum"), "--filter ^sum: none of 1 variants"),
        (("--devices", "2"), "--devices 2: 1 GPUs here"),
        (("--jobs", "0"), "--jobs"),
        (("--executable", "nothing"), "no executable 'nothing'"),
    ):
        code, _, err = here.run(*options)
        assert code == 2 and what in err, err
    none = bench(gpus=0)
    assert "no variant is ready on a GPU here" in none.run()[2]
    assert none.calls() == []


def test_shapes_are_small_odd_and_within_their_limits():
    sizes = [
        parameter("rows", "size", 10000, 2, 2**40),
        parameter("features", "size", 2, 1, 64),
    ]
    own = [
        parameter("steps", "integer", 200, 1, 2**24),
        parameter("batch", "integer", 0, 0, 2**40),
        {**parameter("rate", "real", 0.5, 0, 1), "kind": "real"},
    ]
    assert shapes_of({"parameters": sizes + own}) == (
        "sizes = {rows = 2, features = 1}\nsteps = 1\nbatch = 0",
        "sizes = {rows = 67, features = 3}\nsteps = 3\nbatch = 0",
        "sizes = {rows = 1031, features = 63}\nsteps = 5\nbatch = 0",
        "sizes = {rows = 1031, features = 63}\nsteps = 2\nbatch = 0\nlaunches = {league = 2}",
        "sizes = {rows = 1031, features = 63}\nsteps = 2\nbatch = 0\nlaunches = {tile = 512}",
    )
    alone = [parameter("n", "size", 1, 0, 2**40)]
    assert shapes_of({"parameters": alone})[2] == "sizes = {n = 5003}"
    edge = [parameter("n", "size", 1, 1, 2**14)]
    assert shapes_of({"parameters": edge})[2] == "sizes = {n = 131}", "of a cube"
    narrow = [parameter("n", "size", 1, 1, 1)]
    assert shapes_of({"parameters": narrow}) == (
        "sizes = {n = 1}",
        "sizes = {n = 1}\nlaunches = {league = 2}",
        "sizes = {n = 1}\nlaunches = {tile = 512}",
    ), "each once"


def test_heavy_rows_come_from_the_edge_cases():
    parameters = [
        parameter("train", "size", 0, 0, 2**40),
        parameter("features", "size", 784, 784, 3072),
        parameter("steps", "integer", 0, 0, 2**24),
        {**parameter("rate", "real", 0.5, 0, 1), "kind": "real"},
        {**parameter("rule", "choice", 0, 1, 1), "default": "sgd"},
    ]
    case = {
        "features": "784",
        "rate": "0.1",
        "rule": "adam",
        "steps": "2",
        "train": "5",
    }
    one = 'sizes = {features = 784, train = 5}\nrate = 0.1\nrule = "adam"\nsteps = 2'
    assert shapes_of({"parameters": parameters, "edge_cases": [case]}) == (one,)
    light = [{**p, "min": 1} if p["name"] == "features" else p for p in parameters]
    shapes = shapes_of({"parameters": light, "edge_cases": [case]})
    assert len(shapes) == 5 and one not in shapes


def test_units_take_what_is_ready_on_a_gpu(bench):
    here = bench("direct", gpus=2)
    (variant,) = variants_of(json.loads((here.folder / "list.json").read_text()))
    assert variant.name == "knn/direct/cuda"
    study = variant.study(2)
    assert "devices = [1, 2]" in study and 'dataset = "generated"' in study
    assert study.count("[[cases]]") == 5


def test_units_take_every_execution(bench):
    here = bench("direct")
    listing = json.loads((here.folder / "list.json").read_text())
    (usual,) = variants_of(listing)
    for algorithm in listing["algorithms"]:
        for method in algorithm["methods"]:
            for model in method["models"]:
                model["executions"] = ["stream", "graph"]
    (variant,) = variants_of(listing)
    assert 'execution = ["stream", "graph"]' in variant.study(1)
    assert variant.cases(1) == 2 * usual.cases(1)
    assert "execution" not in usual.study(1)


def test_what_is_between_devices_takes_two(bench):
    listing = json.loads((bench("direct", gpus=2).folder / "list.json").read_text())
    listing["algorithms"][0]["between_shards"] = True
    assert list(variants_of(listing)) == []
    assert len(list(variants_of(listing, 2))) == 1


def test_findings_are_told_apart():
    log = """league: 1/3
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at void a()+0x10
=========     by thread (0,0,0) in block (0,0,0)
=========
========= Uninitialized __global__ memory read of size 4 bytes
=========     at void a()+0x10
=========
========= Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call
=========     Saved host backtrace up to driver entry point at error
========= 7 errors were not printed. Use --print-limit option to adjust the number of printed errors
========= ERROR SUMMARY: 9 errors
"""
    assert findings_of(log) == [
        "Uninitialized __global__ memory read of size 4 bytes at void a()+0x10",
        'Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call',
    ]
