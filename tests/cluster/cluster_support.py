# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of bench/cluster share: places, and the command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEAGUE = Path(os.environ.get("LEAGUE_EXECUTABLE", ROOT / "build/openmp/league"))
SITE = ROOT / "bench/cluster/sites/local.toml"
START = ROOT / ".ci/start.toml"

nightly = pytest.mark.skipif(
    not os.environ.get("LEAGUE_NIGHTLY"), reason="takes minutes: .ci/nightly"
)


def submit(*words, **changes):
    """bench/cluster/submit with these arguments."""
    command = [sys.executable, ROOT / "bench/cluster/submit", *words]
    environment = {**os.environ, **changes}
    return subprocess.run(
        list(map(str, command)),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
