# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ReFrame's suite over studies: this machine alone, and a small Slurm."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cluster_support import LEAGUE, ROOT, SITE, START, nightly

from bench.cluster import site_file, sizes
from bench.cluster.references import references
from bench.report import merge

FOLDER = ROOT / "bench/cluster/reframe"
QUICK = ROOT / "configs/quick.toml"


@pytest.fixture
def reframe(league, tmp_path):
    """reframe(partition, study) runs the suite; its output. Times decide nothing here."""
    beside = Path(sys.executable).parent
    program = shutil.which("reframe", path=f"{beside}:{os.environ['PATH']}")
    if not program:
        pytest.skip("no ReFrame (bench/setup --cluster)")

    def run(partition, study, executable=LEAGUE, text="", *words):
        site = tmp_path / "site.toml"
        text = re.sub("^executable.*", "", text or SITE.read_text(), flags=re.MULTILINE)
        site.write_text(f'executable = "{executable}"\n{text}')
        command = [program, "-C", FOLDER / "settings.py", "-c", FOLDER / "suite.py"]
        command += ["--nocolor", "-S", "slower=1e9", f"--prefix={tmp_path}"]
        command += [
            f"--system=league:{partition}",
            "-P",
            f"study={study}",
            *(words or ["-r"]),
        ]
        own = {"LEAGUE_SITE": str(site), "TMPDIR": str(tmp_path)}
        done = subprocess.run(
            list(map(str, command)),
            env=os.environ | own | {"PYTHONDONTWRITEBYTECODE": "1"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        if "No module named 'numpy'" in done.stdout + done.stderr:
            pytest.skip(f"{program} has no NumPy (bench/setup --cluster)")
        return done

    return run


def check(done, folder, partition):
    """One test passed, and its times are in the log."""
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Ran 1/1 test case(s)" in done.stdout and "[  PASSED  ]" in done.stdout
    (log,) = (folder / "perflogs/league" / partition).glob("*.log")
    assert "vector_add/method=plain/model=serial" in log.read_text()


@pytest.mark.parametrize(
    "study", [START, pytest.param(QUICK, marks=nightly)], ids=["start", "quick"]
)
def test_the_suite_on_this_machine(reframe, tmp_path, study):
    check(reframe("local", study), tmp_path, "local")


@pytest.mark.parametrize(
    "study", [START, pytest.param(QUICK, marks=nightly)], ids=["start", "quick"]
)
def test_the_suite_on_slurm(site, reframe, tmp_path, study):
    done = reframe("slurm", study, text=site.read_text())
    check(done, tmp_path, "slurm")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            'sed -i \'s/"status": "passed"/"status": "failed"/\' records/0*.json',
            "FAILED: ",
        ),
        (
            'sed -i \'s/"status": "passed"/"status": "skipped"/\' records/0*.json',
            "no row passed",
        ),
        ("rm records/0*.json", "holds no records"),
    ],
)
def test_a_launch_that_is_not_sane_fails(reframe, stand_in, change, said):
    done = reframe("local", START, stand_in(f'{LEAGUE} "$@"; {change}'))
    assert done.returncode == 1
    assert "Failing phase: sanity" in done.stdout and said in done.stdout


@pytest.mark.parametrize("name", ["nvidia", "amd"])
def test_job_scripts_are_those_of_submit(reframe, tmp_path, name):
    """Without Slurm: ReFrame writes the script."""
    text = (SITE.parent / f"{name}.toml").read_text()
    done = reframe(
        "slurm",
        START,
        "league",
        text,
        "-P",
        "nodes=2",
        "--dry-run",
        "--keep-stage-files",
    )
    assert done.returncode == 0, done.stdout
    (script,) = (tmp_path / "stage").rglob("rfm_job.sh")
    site = site_file.read(tmp_path / "site.toml")
    (size,) = sizes.sizes(site, [2], [], 0)
    lines = script.read_text().splitlines()
    wanted = [
        f"#SBATCH --ntasks={size.devices}",
        f"#SBATCH --gpus-per-node={size.gpus}",
        "#SBATCH --exclusive",
    ]
    wanted += [
        f"#SBATCH --cpus-per-task={size.cores}",
        f"export OMP_NUM_THREADS={size.cores}",
    ]
    assert not set(wanted) - set(lines)
    assert any(line.startswith("module load ") for line in lines)
    assert "--gpu-bind=none --kill-on-bad-exit=1 --nodes=2" in lines[-1]
    assert f"--devices {size.devices}" in lines[-1]


def test_references_are_of_the_same_case_on_the_same_device(save, entry, tmp_path):
    def launch(folder, samples, **changes):
        return save([entry("kokkos", samples, **changes)], folder=folder)

    launch("published/slow", [3.0] * 6)
    launch("published/fast", [1.0, 2.0, 2.0, 9.0])
    launch("published/host", [0.1] * 6, kind="host")
    launch("published/size", [0.1] * 6, n=7)
    (case,) = merge.load([launch("mine", [5.0] * 6)])[0]
    assert references([case], tmp_path / "published") == {case.name: 2.0}
    (other,) = merge.load([launch("else", [5.0] * 6, n=9)])[0]
    assert references([other], tmp_path / "published") == {}
