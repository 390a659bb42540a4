# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of bench/campaign share: a study of a moment, and the command."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAGUE = Path(os.environ.get("LEAGUE_EXECUTABLE", ROOT / "build/openmp/league"))
STUDY = """samples = 6
models = "serial"
null = false
[[cases]]
algorithm = "ceilings"
methods = "copy"
sizes = 1000
[[cases]]
algorithm = "vector_add"
methods = "plain"
sizes = [1001, 1002, 1003, 1004]
"""
COMPARISONS = [f"vector_add/dtype:f32/n:{n}/devices:1" for n in range(1001, 1005)]


def command(*words):
    """The command line of a campaign."""
    return [sys.executable, "-m", "bench.campaign", *map(str, words)]


class Place:
    """A folder of a campaign, and a study beside it."""

    def __init__(self, folder):
        self.folder, self.study = folder / "campaign", folder / "small.toml"
        self.study.write_text(STUDY)

    def call(self, mode, *words, status=0):
        """Calls the command, and holds its exit code; returns what it printed."""
        done = subprocess.run(
            command(mode, self.folder, *words),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    def plan(self, *words, status=0):
        """A plan of two launches of the study."""
        usual = ["--executable", LEAGUE, "--launches", 2, self.study]
        return self.call("plan", *usual, *words, status=status)

    def content(self):
        """campaign.json."""
        return json.loads((self.folder / "campaign.json").read_text())

    def records(self):
        """All record files, and their bytes."""
        files = self.folder.glob("slices/*/*/*/records/*.json")
        return {p: p.read_bytes() for p in files if p.name != "run.json"}
