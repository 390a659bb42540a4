# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs units: league under a tool, in a process group that ends with it."""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .outcome import (
    ERROR_EXIT,
    Outcome,
    last_words,
    read_cases,
    read_tool,
)
from .units import Unit


class Stopped(Exception):
    """The user ended the run."""


@dataclass
class Runner:
    """Where and how units run. Used by several threads at once."""

    league: Path
    sanitizer: Path
    output: Path
    jobs: int
    gpus: int
    timeout_s: float
    stopped: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _running: set[int] = field(default_factory=set)

    def run(self, number: int, unit: Unit) -> Outcome:
        """One unit from its study to its outcome. Raises Stopped."""
        outcome = Outcome(unit.key, unit.variant.name, unit.tool)
        begin = time.monotonic()
        folder, code = self.league_run(
            unit.name,
            unit.study,
            self.tool(unit.tool),
            self.environment(number, unit),
        )
        outcome.seconds = round(time.monotonic() - begin, 1)
        log = (folder / "log").read_text(encoding="utf-8", errors="replace")
        if code is None:
            outcome.broken = f"timed out: after {self.timeout_s:g} s"
        else:
            read_tool(outcome, log, code)
        expected = unit.variant.cases(unit.devices)
        read_cases(outcome, folder / "records", expected)
        if outcome.broken:
            outcome.broken += f"; last line: {last_words(log)}"
        return outcome

    def league_run(
        self, name: str, study: str, tool: list[str], environment: dict[str, str]
    ) -> tuple[Path, int | None]:
        """Runs a study in a new folder with `study.toml`, `records` and `log`."""
        folder = self.output / "units" / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        file = folder / "study.toml"
        file.write_text(study + "\n", encoding="utf-8")
        run = [str(self.league), "run", str(file), "--records", str(folder / "records")]
        with (folder / "log").open("wb") as log:
            command = [*tool, *run, "--device-memory", "4GiB"]
            return folder, self.call(command, log, environment)

    def tool(self, name: str) -> list[str]:
        """`--max-connections`: each process of a machine takes a port of its own."""
        ports = max(10, 4 * self.jobs)
        return [
            *(str(self.sanitizer), "--tool", name),
            *("--error-exitcode", str(ERROR_EXIT)),
            *("--target-processes", "application-only", "--launch-timeout", "120"),
            *("--max-connections", str(ports), "--print-limit", "20"),
            *("--check-exit-code", "no"),  # the records say what failed
        ]

    def environment(self, number: int, unit: Unit) -> dict[str, str]:
        """Units of one device take turns on the GPUs; the host's threads are shared."""
        shared = {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // self.jobs))}
        if unit.devices == 1 and self.gpus > 1:
            shared["CUDA_VISIBLE_DEVICES"] = str(number % self.gpus)
        return {**shared, **os.environ}

    def call(
        self, command: list[str], log: IO[bytes], environment: dict[str, str]
    ) -> int | None:
        """Its exit code; None: its time was up, and it was ended with all its children."""
        with self._lock:
            if self.stopped:
                raise Stopped
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
            self._running.add(process.pid)
        late = threading.Event()
        timer = threading.Timer(self.timeout_s, self.kill, [process.pid, late])
        timer.start()
        # not reaped yet: its number is still that of its group
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        timer.cancel()
        self.kill(process.pid)  # what it left behind
        with self._lock:
            self._running.remove(process.pid)
            stopped = self.stopped
        code = process.wait()
        if stopped:
            raise Stopped
        return None if late.is_set() else code

    def kill(self, group: int, late: threading.Event | None = None) -> None:
        with self._lock:
            if group not in self._running:
                return
            if late:
                late.set()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)

    def stop(self) -> None:
        """Ends all that runs; what is not yet recorded runs again next time."""
        with self._lock:
            self.stopped = True
            running = list(self._running)
        for group in running:
            self.kill(group)
