# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/cluster/submit without a cluster: site files, job scripts, what it refuses."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
from cluster_support import ROOT, START, submit

from bench.cluster import durations, estimate, site_file, sizes, toml
from bench.cluster.errors import BadInput

SITES = sorted((ROOT / "bench/cluster/sites").glob("*.toml"))
ESTIMATE = 'echo "8 cases, about 10 min"'
GPUS = """gpus_per_node = 4
cores_per_node = 64
max_time = "2:00:00"
partition = "gpu"
account = "me"
options = ["--exclusive"]
modules = ["cuda"]
prologue = '''
nvidia-smi -L
'''
[environment]
A = "b c"
"""


@pytest.fixture
def site(tmp_path):
    """site(text) writes a site file."""

    def make(text=GPUS):
        path = tmp_path / "site.toml"
        path.write_text(text)
        return path

    return make


def dry(site, program, *words):
    """The scripts, by name, and what was said."""
    done = submit(START, "--site", site, "--executable", program, "--dry-run", *words)
    assert done.returncode == 0, done.stderr
    parts = re.split(r"^# == (.*)\.sh\n", done.stdout, flags=re.MULTILINE)[1:]
    return {Path(k).name: v for k, v in zip(parts[::2], parts[1::2])}, done.stderr


def directives(script):
    """What sbatch reads: key and value."""
    lines = [line[8:] for line in script.splitlines() if line.startswith("#SBATCH ")]
    return dict((shlex.split(line)[0] + "=").split("=")[:2] for line in lines)


@pytest.mark.parametrize("path", SITES, ids=lambda path: path.stem)
def test_site_files_are_toml(path):
    tomllib = pytest.importorskip("tomllib")
    tables = tomllib.loads(path.read_text())
    flat = {k: v for k, v in tables.items() if k != "environment"}
    flat.update({f"environment.{k}": v for k, v in tables["environment"].items()})
    assert {key: entry.value for key, entry in toml.read(path).items()} == flat
    assert site_file.read(path).max_s > 0


def test_values_are_those_of_toml(tmp_path):
    tomllib = pytest.importorskip("tomllib")
    text = "a = 1\nb = -2.5 # c\nd = \"x \\\"#\\\" \\u00e9\"\ne = 'y \\'\nf = [ 'a',\n \"b\", # c\n]\ng = '''\nx\n 'y'\n'''\nh = []\ni = true"
    path = tmp_path / "x.toml"
    path.write_text(text)
    read = toml.read(path)
    assert {key: entry.value for key, entry in read.items()} == tomllib.loads(text)
    assert [entry.line for entry in read.values()] == [1, 2, 3, 4, 5, 8, 12, 13]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "partitoin = 'x'",
            "site.toml:12: unknown key 'partitoin'; the nearest is 'partition'",
        ),
        ("[slurm]\nx = 1", "site.toml:13: unknown key 'slurm.x'"),
        ("safety = 'x'", "site.toml:12: 'safety' takes a number"),
        ("resumes = -1", "site.toml:12: 'resumes' takes a whole number from 0 on"),
        ("startup = 'soon'", "site.toml:12: 'startup': 'soon' is no time"),
        ("gpu_option = '{n}'", "site.toml:12: 'gpu_option'"),
        (
            "srun_options = [1]",
            "site.toml:12: 'srun_options' takes an array of strings",
        ),
        (
            "partition = 'x'",
            "site.toml:12: 'partition' is there twice, first in line 4",
        ),
        ("python = x", "site.toml:12: 'x' is no value"),
        ("python = 'x' 'y'", "site.toml:12: more on the line"),
        ("python", "site.toml:12: neither KEY = VALUE"),
        ("srun_options = ['a'", "site.toml:12: an array without its ']'"),
        ('python = """x"""', "site.toml:12: write a string of several lines"),
    ],
)
def test_wrong_lines_of_a_site_file(site, line, said):
    head, environment = GPUS.split("[environment]\n")
    path = site(
        f"{head}# the twelfth line is next\n{line}\n[environment]\n{environment}"
    )
    done = submit(START, "--site", path, "--dry-run", "--time", "10")
    assert done.returncode == 2
    assert said in done.stderr and not done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["no.toml"], "no study 'no.toml'"),
        ([START, "--gpus-per-node", "5"], "--gpus-per-node 5: the site has 4 a node"),
        (
            [START, "--ranks-per-node", "3"],
            "4 GPUs cannot be shared out evenly to 3 ranks",
        ),
        ([START, "--time", "3:00:00"], "the site allows 2:00:00"),
        ([START, "--time", "2"], "League is interrupted 120 s before its end"),
        ([START, "--executable", "nothing"], "no executable 'nothing'"),
        ([START, "--nodes", "0"], "numbers from 1 on"),
        ([START, "--nodes", "x"], "invalid counts value"),
        ([START, "--", "--records", "x"], "--records is not to be given to league"),
        (
            [START, "--", "--set", "x=1"],
            "no estimate from `league run --dry-run`: unknown key",
        ),
        ([], "STUDY and --site FILE are needed"),
        (["--status=/nowhere"], "nothing was submitted into it"),
    ],
)
def test_wrong_arguments(site, stand_in, words, said):
    program = stand_in("echo unknown key >&2; exit 2")
    usual = ["--site", site(), "--dry-run", "--executable", program]
    at = words.index("--") if "--" in words else len(words)
    done = submit(*words[:at][:1], *usual, *words[:at][1:], *words[at:])
    assert done.returncode == 2, done.stdout
    assert said in done.stderr


def test_no_site_file_and_no_slurm(site, stand_in, tmp_path):
    program = stand_in(ESTIMATE)
    done = submit(START, "--site", tmp_path / "absent.toml")
    assert done.returncode == 2 and "absent.toml: No such file" in done.stderr
    words = ["--executable", program, "--output", tmp_path / "out"]
    done = submit(START, "--site", site(), *words, PATH=str(tmp_path))
    assert done.returncode == 2 and "no sbatch on this machine" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_job_for_each_size(site, stand_in, tmp_path):
    words = ["--nodes", "1,2,4", "--gpus-per-node", "1,4", "--repeat", "5"]
    words += ["--output", tmp_path / "my out", "--", "--set", "samples=4"]
    scripts, said = dry(site(), stand_in(ESTIMATE), *words)
    assert list(scripts) == ["1x1", "1x4", "2x4", "4x4", "report"]
    assert "a launch takes about 600 s, a job asks for 00:42:00" in said
    script = scripts["2x4"]
    assert script.startswith("#!/bin/bash -l\n")
    found = directives(script)
    assert found["--output"] == f"{tmp_path}/my out/2x4/slurm-%a.out"
    wanted = {"--nodes": "2", "--ntasks-per-node": "4", "--cpus-per-task": "16"}
    wanted |= {"--gpus-per-node": "4", "--array": "0-4%1", "--time": "00:42:00"}
    wanted |= {"--signal": "B:USR1@120", "--requeue": "", "--exclusive": ""}
    wanted |= {"--partition": "gpu", "--account": "me", "--open-mode": "append"}
    assert wanted.items() <= found.items()
    assert "--gpus-per-node" not in directives(scripts["report"])
    assert directives(scripts["1x1"])["--cpus-per-task"] == "16"
    lines = script.splitlines()
    order = [
        "module load cuda",
        "export OMP_NUM_THREADS=16",
        "export A='b c'",
        "nvidia-smi -L",
    ]
    places = [lines.index(line) for line in order]
    assert places == sorted(places)
    assert f"launch='{tmp_path}/my out/2x4'/$SLURM_ARRAY_TASK_ID" in lines
    run = "srun --mpi=pmix --gpu-bind=none --kill-on-bad-exit=1 --nodes=2 --ntasks=8"
    assert f"{run} --ntasks-per-node=4 --cpus-per-task=16" in script
    assert '--set samples=4 --devices 8 --resume --records "$launch/records"' in script
    for text in scripts.values():
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    assert not (tmp_path / "my out").exists()


def test_sizes_without_gpus_and_with_one_process_a_node():
    hosts = site_file.Site(cores_per_node=32, max_time="1", ranks_per_node=4)
    assert [s.devices for s in sizes.sizes(hosts, [2, 1], [], 0)] == [4, 8]
    assert sizes.one(hosts, 1, 0, 2).cores == 16
    gpus = site_file.Site(cores_per_node=60, max_time="1", gpus_per_node=4)
    whole = sizes.one(gpus, 2, 4, 1)
    assert (whole.ranks, whole.cores, whole.devices, whole.name) == (1, 60, 8, "2x4")


def test_estimates():
    site = site_file.Site(cores_per_node=1, max_time="1:00:00", startup="5", grace_s=60)
    some = estimate.parsed("x  skipped: no GPU answers\n4 cases, about 90 s\n", "")
    assert some.whole_s == 120
    time_s, remark = estimate.walltime(site, some)
    assert time_s == 300 + 3 * 120 + 60 and "1 of 4 cases have no estimate" in remark
    long = estimate.parsed("4 cases, at most about 2.5 h\n", "")
    assert long.whole_s == 9000
    time_s, remark = estimate.walltime(site, long)
    assert time_s == 3600 and "resumed, at most 3 times" in remark
    with pytest.raises(BadInput, match="no GPU answers here"):
        estimate.parsed("x  skipped: no GPU answers\n1 cases, about 0 s\n", "")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 1800),
        ("1:30", 90),
        ("1:00:00", 3600),
        ("1-12", 129600),
        ("1-1:30", 91800),
    ],
)
def test_durations(text, seconds):
    assert durations.seconds(text) == seconds


def test_durations_are_whole_minutes():
    assert [durations.text(s) for s in (1, 61, 86400)] == [
        "00:01:00",
        "00:02:00",
        "24:00:00",
    ]


def test_a_launch_that_runs_out_of_time_is_queued_again_where_it_began(tmp_path):
    """bench/cluster/launch, with stand-ins for Slurm's commands."""
    for name in ("scancel", "scontrol"):
        text = f'#!/bin/bash\necho {name} "$@" >>{tmp_path}/calls\n'
        text += "kill -TERM $(<step)\n" if name == "scancel" else ""
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    step = f"echo $$ >step; mkdir -p {tmp_path}/0/records; touch {tmp_path}/0/records/a.json; kill -USR1 $PPID; sleep 30"
    words = [ROOT / "bench/cluster/launch", tmp_path / "0", "2", "bash", "-c", step]
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "SLURM_JOB_ID": "9"}
    environment |= {"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": "0"}

    def launch(**changes):
        (tmp_path / "calls").unlink(missing_ok=True)
        done = subprocess.run(
            words, env={**environment, **changes}, cwd=tmp_path, check=False
        )
        assert done.returncode == 143 == int((tmp_path / "0/exit_code").read_text())
        return (tmp_path / "calls").read_text().splitlines()

    asked = ["scancel --quiet --signal=TERM 7_0"]
    again = ["scontrol requeue 7_0", "scontrol update JobId=7_0 ReqNodeList=n[1-2]"]
    assert launch(SLURM_JOB_NODELIST="n[1-2]") == asked + again
    assert launch(SLURM_JOB_NODELIST="n3", SLURM_RESTART_COUNT="1") == asked + again
    assert launch(SLURM_JOB_NODELIST="n3", SLURM_RESTART_COUNT="2") == asked


def test_help_names_the_modes():
    done = submit("--help")
    assert done.returncode == 0
    assert all(
        word in done.stdout for word in ("--status DIR", "--resume DIR", "--merge DIR")
    )
