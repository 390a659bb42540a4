# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line of tests/sanitize_gpu, and the order of its units."""

import argparse
import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import NoReturn

from .outcome import Outcome
from .run import Runner, Stopped
from .summary import write
from .units import Json, Unit, variants_of

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
CLEAN, FOUND, BAD_USAGE, INTERRUPTED = 0, 1, 2, 130


class BadUsage(Exception):
    """What the user has to mend."""


class Options(argparse.Namespace):
    executable: Path
    output: Path
    tools: str
    devices: int
    jobs: int
    filter: str
    timeout: float


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def read_options(words: list[str], usage: str) -> Options:
    short = "\n".join(usage.splitlines()[:2])
    parser = argparse.ArgumentParser(usage=short, add_help=False)
    parser.add_argument("--executable", type=Path, required=True)
    parser.add_argument("--output", type=Path, default=Path("build/sanitize"))
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--devices", type=positive, default=1)
    cores = os.cpu_count() or 1
    parser.add_argument("--jobs", type=positive, default=max(1, cores // 2))
    parser.add_argument("--filter", default="")
    parser.add_argument("--timeout", type=positive, default=300)
    return parser.parse_args(words, namespace=Options())


def output_of(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BadUsage(f"cannot run {command[0]}: {error}") from error
    if done.returncode:
        raise BadUsage(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def find_sanitizer() -> Path:
    folders = f"{os.environ.get('PATH', '')}{os.pathsep}/usr/local/cuda/bin"
    found = shutil.which("compute-sanitizer", path=folders)
    if not found:
        raise BadUsage("no compute-sanitizer on the PATH or in /usr/local/cuda/bin")
    return Path(found)


def units_of(options: Options, sanitizer: Path, listing: Json) -> list[Unit]:
    """Tool by tool: what most runs are for comes first."""
    tools = options.tools.split(",")
    if unknown := [tool for tool in tools if tool not in TOOLS]:
        raise BadUsage(f"--tools {unknown[0]}: takes a list of {', '.join(TOOLS)}")
    try:
        pattern = re.compile(options.filter)
    except re.error as error:
        raise BadUsage(f"--filter {options.filter}: {error}") from error
    ready = list(variants_of(listing, options.devices))
    if not ready:
        raise BadUsage("no variant is ready on a GPU here, see `league list`")
    chosen = [one for one in ready if pattern.search(one.name)]
    if not chosen:
        raise BadUsage(f"--filter {options.filter}: none of {len(ready)} variants")
    digest = hashlib.sha256(options.executable.read_bytes()).hexdigest()
    program = digest + output_of([str(sanitizer), "--version"])
    return [
        Unit(variant, tool, options.devices, program)
        for tool in tools
        for variant in chosen
    ]


def read_state(file: Path) -> dict[str, Outcome]:
    """Outcomes by their keys. The last line may be cut where a run was killed."""
    outcomes = {}
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                outcome = Outcome(**json.loads(line))
            except (ValueError, TypeError):
                continue
            outcomes[outcome.key] = outcome
    return outcomes


def append(file: Path, outcome: Outcome) -> None:
    """One line, on the disk when this returns; on its own where the last one was cut."""
    with file.open("ab+") as state:
        if state.seek(0, os.SEEK_END):
            state.seek(-1, os.SEEK_END)
            if state.read(1) != b"\n":
                state.write(b"\n")
        state.write(outcome.line().encode() + b"\n")
        state.flush()
        os.fsync(state.fileno())


@contextmanager
def alone(output: Path) -> Iterator[None]:
    """Two runs into one folder would take each other's units away."""
    with (output / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BadUsage(f"another run writes to '{output}'") from None
        yield


def run_units(runner: Runner, units: list[Unit], known: dict[str, Outcome]) -> bool:
    """Runs what is not known yet, and what broke again; False: the user ended it."""
    state = runner.output / "units.jsonl"
    new = [unit for unit in units if unit.key not in known]
    again = [u for u in units if u.key in known and known[u.key].broken]
    waiting = new + again
    done = len(units) - len(waiting)
    print(f"{len(units)} units, {done} done before, {runner.jobs} at once", flush=True)

    def interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    with ThreadPoolExecutor(runner.jobs) as pool:
        try:
            tasks = [
                pool.submit(runner.run, number, unit)
                for number, unit in enumerate(waiting)
            ]
            for task in as_completed(tasks):
                outcome = task.result()
                append(state, outcome)
                known[outcome.key] = outcome
                done += 1
                print(
                    f"[{done}/{len(units)}] {outcome.tool} {outcome.variant}: "
                    f"{outcome.cell}; {outcome.passed} cases passed; "
                    f"{outcome.seconds} s",
                    flush=True,
                )
        except (KeyboardInterrupt, Stopped):
            runner.stop()
            pool.shutdown(cancel_futures=True)
            return False
        except BaseException:
            runner.stop()
            raise
    return True


def sanitize(options: Options) -> int:
    sanitizer = find_sanitizer()
    if not options.executable.is_file():
        raise BadUsage(f"no executable '{options.executable}'")
    league = options.executable.resolve()
    listing = json.loads(output_of([str(league), "list", "--json"]))
    gpus = sum(device["kind"] == "gpu" for device in listing["devices"])
    units = units_of(options, sanitizer, listing)
    if options.devices > gpus:
        raise BadUsage(f"--devices {options.devices}: {gpus} GPUs here")
    output = options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    runner = Runner(league, sanitizer, output, options.jobs, gpus, options.timeout)
    with alone(output):
        known = read_state(output / "units.jsonl")
        ended = run_units(runner, units, known)
    outcomes = [known[unit.key] for unit in units if unit.key in known]
    missing = len(units) - len(outcomes)
    tools = options.tools.split(",")
    print("\n" + write(output, outcomes, tools, missing), end="")
    print(f"\nsummary: {options.output / 'summary.md'}")
    if not ended:
        return INTERRUPTED
    return CLEAN if all(one.clean for one in outcomes) else FOUND


def main(words: list[str], usage: str) -> int:
    if "-h" in words or "--help" in words:
        print(f"Usage: {usage}")
        return CLEAN
    try:
        return sanitize(read_options(words, usage))
    except BadUsage as error:
        print(f"tests/sanitize_gpu: {error}", file=sys.stderr)
        return BAD_USAGE
