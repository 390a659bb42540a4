# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/run in shells and services that are not a terminal's."""

import os
import subprocess

import pytest

from tests.bench.test_bench_run import ROOT, command, league, run

__all__ = ["league"]


@pytest.mark.parametrize("streams", [(1,), (2,), (0, 1, 2)])
def test_a_run_without_standard_streams_is_reported(league, streams):
    """As a job of cron, or of a service."""

    def close():
        for stream in streams:
            os.close(stream)

    output = league.with_name("output")
    words = command(league, output)
    done = subprocess.run(words, check=False, cwd=league.parent, preexec_fn=close)
    assert done.returncode == 0
    assert (output / "table.md").exists() and (output / "report/index.html").exists()


def test_a_link_to_it_is_it(league):
    """In a folder of the search path, with a variable that makes `cd` print."""
    link = league.with_name("league-run")
    link.symlink_to(ROOT / "bench/run")
    output = league.with_name("output")
    words = [str(link), *command(league, output, "--show-skipped")[1:]]
    done = subprocess.run(
        words,
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "CDPATH": f".:{ROOT}"},
    )
    assert done.returncode == 0, done.stderr
    assert (output / "table.md").exists()


def test_no_records_are_no_report(league):
    league.with_name("1.json").unlink()
    done, output = run(league)
    assert done.returncode == 1 and f"no report: no records in {output}" in done.stderr
