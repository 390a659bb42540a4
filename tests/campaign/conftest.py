# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The fixture of the tests of bench/campaign."""

import pytest
from campaign_support import LEAGUE, Place


@pytest.fixture
def place(tmp_path):
    """A campaign that is not planned yet."""
    if not LEAGUE.exists():
        pytest.skip(f"no {LEAGUE}")
    return Place(tmp_path)
