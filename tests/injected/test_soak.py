# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A soak, at night (LEAGUE_NIGHTLY): hundreds of studies under random signals leave nothing behind, and a long one
grows by nothing but its records. LEAGUE_SOAK: how many studies (200).
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import pytest
from injected_support import BUILD, NIGHTLY, PATIENCE_S, ROOT, rows_in

STUDIES = int(os.environ.get("LEAGUE_SOAK", "200"))
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
HARMLESS = (signal.SIGWINCH, signal.SIGSTOP, signal.SIGCONT)
STUDY = """
samples = 2
algorithm = "vector_add"
methods = ["plain", "library"]
models = ["serial", "kokkos", "numpy"]
sizes = [64, 1000, 3000]
"""
LONG = """
samples = 6
algorithm = "vector_add"
methods = "plain"
models = ["serial", "openmp", "kokkos"]
sizes = {sizes}
"""

pytestmark = pytest.mark.skipif(
    not (NIGHTLY and (BUILD / "league").exists()), reason="takes minutes: at night"
)


def start(folder, study, *options):
    """A study in a session of its own."""
    folder.mkdir(exist_ok=True)
    (folder / "study.toml").write_text(study)
    with (folder / "log").open("a") as log:
        return subprocess.Popen(
            [BUILD / "league", "run", "study.toml", "--records", "records", *options],
            cwd=folder,
            env=os.environ | {"OMP_WAIT_POLICY": "passive"},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def ended(run):
    """Waits for its end. Returns its exit code and the most memory that it had [KiB]."""
    _, status, usage = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    return run.returncode, usage.ru_maxrss


def send(run, number):
    """A signal; what it stops goes on."""
    os.kill(run.pid, number)
    if number == signal.SIGSTOP:
        time.sleep(0.02)
        os.kill(run.pid, signal.SIGCONT)


def left_of(session):
    """The processes of a session, once they had time to end."""
    for _ in range(100):
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(stat.parent.name)
        if not found:
            break
        time.sleep(0.1)
    return found


def test_studies_under_signals_leave_nothing_behind(tmp_path):
    rng, memory, killed = random.Random(1), [], 0
    shared = set(os.listdir("/dev/shm"))
    for number in range(STUDIES):
        folder = tmp_path / str(number)
        peers = ("--python", sys.executable, "--peers", ROOT) if number % 5 == 0 else ()
        run = start(folder, STUDY, *peers)
        for one in rng.choices(HARMLESS, k=rng.randrange(3)):
            time.sleep(rng.uniform(0, 0.1))
            send(run, one)
        time.sleep(rng.uniform(0, 2.5 if peers else 0.3))
        send(run, rng.choice(ENDING))
        code, _ = ended(run)
        killed += code != 0
        assert code in (0, 130, *(-one for one in ENDING)), (number, code)
        assert not left_of(run.pid), number
        rows_in(folder)  # all whole
        code, most = ended(start(folder, STUDY, "--resume", *peers))
        assert code == 0, (number, (folder / "log").read_text())
        if not peers:
            memory.append(most)
    some = len(memory) // 4
    first, last = median(memory[:some]), median(memory[-some:])
    print(f"{STUDIES} studies, {killed} ended by a signal; a run has {first:.0f} KiB")
    assert last < 1.05 * first
    assert set(os.listdir("/dev/shm")) <= shared


def state_of(run):
    """Memory [KiB], descriptors, threads and children of a process."""
    folder = Path(f"/proc/{run.pid}")
    lines = (folder / "status").read_text().splitlines()
    fields = {key: value for key, _, value in (line.partition(":") for line in lines)}
    children = (folder / f"task/{run.pid}/children").read_text().split()
    return (
        int(fields["VmRSS"].split()[0]),
        len(list((folder / "fd").iterdir())),
        int(fields["Threads"]),
        len(children),
    )


def flattened(states):
    """The most memory; of the others the fewest, as a record is a descriptor while it is written."""
    memory, *others = zip(*states)
    return [max(memory), *map(min, others)]


def test_a_long_study_grows_by_its_records_only(tmp_path):
    sizes = list(range(1000, 1000 + STUDIES))
    run, rng, states = (
        start(tmp_path / "long", LONG.format(sizes=sizes)),
        random.Random(2),
        [],
    )
    records, begin = tmp_path / "long/records", time.monotonic()
    while run.poll() is None:
        assert time.monotonic() < begin + PATIENCE_S
        time.sleep(0.05)
        if len(list(records.glob("0*.json"))) > STUDIES // 10 and run.poll() is None:
            send(run, rng.choice(HARMLESS))
            states.append(state_of(run))
    assert run.returncode == 0, (tmp_path / "long/log").read_text()
    quarter = len(states) // 4
    assert quarter, "it was over before it was looked at"
    first, last = (flattened(some) for some in (states[:quarter], states[-quarter:]))
    print(
        f"{STUDIES} comparisons, memory, descriptors, threads, children: {first}, {last}"
    )
    written = sum(path.stat().st_size for path in records.iterdir()) / 1024
    assert last[0] - first[0] < 4 * written  # the run keeps its records until it ends
    assert last[1:] == first[1:]
