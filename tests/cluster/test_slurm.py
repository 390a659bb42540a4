# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/cluster/submit against a real Slurm: two virtual nodes on this machine."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import small_slurm
from cluster_support import START, nightly, submit

from bench.report import merge

PATIENCE_S = 90


@pytest.fixture
def campaign(site, league, tmp_path):
    """campaign(words...) submits the study that the tests use into tmp_path/out."""

    def run(*words, study=START, executable=league):
        output = tmp_path / "out"
        usual = ["--site", site, "--output", output, "--executable", executable]
        return submit(study, *usual, *words), output

    return run


def wait_until(condition):
    """Fails where it does not come true."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.2)


def cases_of(*folders):
    """Cases of whole launches."""
    cases, problems = merge.load(folders)
    assert not problems
    return cases


def users_of(configuration):
    """Processes that have this Slurm in their environment."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.fsencode(configuration) in (place / "environ").read_bytes():
                found.append((place / "cmdline").read_text())
    return found


def test_nothing_of_the_small_slurm_stays_behind(tmp_path):
    """Once its input is closed, as the end of a process does: jobs that ignore signals end too."""
    if reason := small_slurm.missing():
        pytest.skip(reason)
    configuration = f"{tmp_path}/slurm.conf"
    command = [sys.executable, small_slurm.__file__, tmp_path]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as cluster:
        assert cluster.stdout.readline() == b"ready\n"
        job = "#!/bin/bash\ntrap '' TERM\nsetsid sleep 500 & sleep 500\n"
        environment = {**os.environ, "SLURM_CONF": configuration}
        words = ["sbatch", f"--chdir={tmp_path}"]
        subprocess.run(words, input=job, text=True, env=environment, check=True)
        wait_until(lambda: sum("500" in w for w in users_of(configuration)) == 2)
        assert len(users_of(configuration)) > 6  # the daemons too
        cluster.stdin.close()
    wait_until(lambda: not users_of(configuration))


def test_launches_become_one_report(campaign):
    done, output = campaign("--ranks-per-node", "1", "--repeat", "2", "--wait")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done: 2 passed") == 2
    (case, null) = cases_of(output / "1x1/0", output / "1x1/1")
    assert len(case.launches) == 2 and null.null
    assert (output / "table.csv").exists() and (output / "report/index.html").exists()
    assert "nothing to resume" in submit("--resume", output).stderr
    refused = campaign("--nodes", "1")[0]
    assert refused.returncode == 2
    assert f"holds 1x1 already: --resume {output} goes on" in refused.stderr


@nightly
def test_a_failed_job_is_told_and_resumed(campaign, stand_in, league):
    program = stand_in(f"""[[ $* != *--dry-run* ]] || exec {league} "$@"
[[ -e "$(dirname "$0")/mended" ]] || {{ echo 'no such data' >&2; exit 3; }}
exec {league} "$@" """)
    done, output = campaign("--wait", executable=program)
    assert done.returncode == 1
    assert "1x1 launch 0: not finished (exit code 3)" in done.stdout
    assert f"see {output}/1x1/slurm-0.out" in done.stdout
    assert f"--resume {output}" in done.stdout
    assert "no such data" in (output / "1x1/slurm-0.out").read_text()
    program.with_name("mended").touch()
    done = submit("--resume", output, "--wait")
    assert done.returncode == 0, done.stderr
    assert "1x1 launch 0: done: 2 passed" in done.stdout
    assert len(cases_of(output / "1x1/0")) == 2
    assert (output / "table.csv").exists()


@nightly
def test_each_rank_sees_all_gpus_of_its_node_and_has_cores(
    campaign, site, stand_in, tmp_path
):
    """With --gpu-bind=none Slurm names none: those of the job, where it guards devices (cgroups), are visible."""
    program = stand_in("""[[ $* != *--dry-run* ]] || { echo '1 cases, about 1 s'; exit; }
echo "rank $SLURM_PROCID on $SLURMD_NODENAME: ${CUDA_VISIBLE_DEVICES-all GPUs}, $OMP_NUM_THREADS threads, $*" """)
    file = tmp_path / "site.toml"
    file.write_text(site.read_text().replace("ranks_per_node = 1", "gpus_per_node = 2"))
    words = ["--site", file, "--nodes", "1,2", "--gpus-per-node", "1,2", "--wait"]
    done, output = campaign(*words, executable=program)
    assert done.returncode == 1  # it recorded nothing
    log = (output / "2x2/slurm-0.out").read_text()
    for rank, node in enumerate(["n1", "n1", "n2", "n2"]):
        assert (
            f"rank {rank} on {node}: all GPUs, 1 threads, run {START} --devices 4 "
            in log
        )
    assert ": 0, 1 threads, run" in (output / "1x1/slurm-0.out").read_text()
    assert "rank 1 on" in (output / "1x2/slurm-0.out").read_text()


@nightly
def test_a_failed_row_is_told(campaign, stand_in, league):
    """A row of a record that says FAILED: League exits with 1."""
    program = stand_in(f"""{league} "$@"; [[ $* != *--dry-run* ]] || exit 0
for last; do :; done
sed -i '0,/"status": "passed"/s//"status": "failed"/' "$last"/0*.json
exit 1""")
    done, _ = campaign("--wait", executable=program)
    assert done.returncode == 1
    assert "1x1 launch 0: done: 1 FAILED, 1 passed" in done.stdout


def test_states_in_the_queue_and_after_scancel(campaign, stand_in, league):
    program = stand_in(f"""[[ $* != *--dry-run* ]] || exec {league} "$@"
sleep 300 & wait""")
    done, output = campaign("--repeat", "2", executable=program)
    assert done.returncode == 0, done.stderr
    wait_until(lambda: "launch 0: running" in submit("--status", output).stdout)
    said = submit("--status", output)
    assert (
        "launch 1: pending, JobArrayTaskLimit" in said.stdout and said.returncode == 0
    )
    assert "nothing to resume" in submit("--resume", output).stderr
    kept = json.loads((output / "campaign.json").read_text())
    jobs = [str(job) for job in kept["jobs"]["1x1"] + kept["reports"]]
    subprocess.run(["scancel", *jobs], check=True)
    wait_until(lambda: submit("--status", output).stdout.count("not finished") == 2)
    assert submit("--status", output).returncode == 1


# The first attempt stands still from its first record to the signal: however fast the machine is, its time runs out.
HELD = """[[ $* != *--dry-run* ]] || exec {league} "$@"
trap 'kill -CONT $step' TERM
{league} "$@" & step=$!
if [[ ${{SLURM_RESTART_COUNT:-0}} == 0 ]]; then
  until compgen -G "$PWD/out/1x1/0/records/0*.json" >/dev/null; do sleep 0.01; done
  kill -STOP $step
fi
while kill -0 $step 2>/dev/null; do wait $step; done
wait $step"""
CASES = 60


@nightly
def test_a_time_limit_is_an_interrupt_and_the_launch_goes_on(
    campaign, site, stand_in, league, tmp_path
):
    """The job queues itself again, Slurm waits two minutes with that; its records are of one run."""
    study, file = tmp_path / "long.toml", tmp_path / "site.toml"
    sizes = [1000 + i for i in range(CASES)]
    what = 'algorithm = "sum"\nmethods = "two_stage"\nmodels = "serial"'
    study.write_text(
        f"samples = 3000\nnull = false\n[[cases]]\n{what}\nsizes = {sizes}\n"
    )
    text = site.read_text().replace('max_time = "1:00:00"', 'max_time = "1"')
    file.write_text(f"grace_s = 50\n{text}")
    words = ["--site", file, "--time", "1", "--wait"]
    program = stand_in(HELD.format(league=league).replace("$PWD", str(tmp_path)))
    done, output = campaign(*words, study=study, executable=program)
    log = (output / "1x1/slurm-0.out").read_text()
    assert done.returncode == 0, done.stdout + log
    assert "exit code 130" in log and "out of time: queued again" in log
    assert "restart 1" in log and "[1/" in log.split("restart 1")[1]
    cases = cases_of(output / "1x1/0")
    assert len(cases) == CASES and {case.status for case in cases} == {"passed"}
    assert len({case.context.run_id for case in cases}) == 1
