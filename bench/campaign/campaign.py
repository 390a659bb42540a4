# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plan of a campaign, ``DIR/campaign.json``, and the program that it is of."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..report.files import write_whole
from .errors import BadInput

NAME = "campaign.json"
SLICES = "slices"
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Planned:
    """A comparison of a study: its time in one launch [s], and in how many it is measured."""

    seconds: float
    launches: int
    recorded: bool  # whether the time is that of a record
    ceilings: bool = False  # whether it is in every slice of its study


@dataclass(frozen=True)
class Slice:
    """What one call measures on one host: whole comparisons, by study, in one launch."""

    launch: int  # from 1 on
    seconds: float  # about, in all
    comparisons: dict[str, list[str]]


@dataclass
class Campaign:
    """What is measured, with which program. Paths below the project are relative to it."""

    executable: str
    executable_hash: str
    python: str  # interpreter of the peers; empty: none
    options: list[str]  # of `league run`
    launches: int
    minutes: float  # of a slice at most
    studies: dict[str, str] = field(default_factory=dict)  # name -> file
    comparisons: dict[str, dict[str, Planned]] = field(default_factory=dict)
    slices: list[Slice] = field(default_factory=list)

    def save(self, folder: Path) -> None:
        """Writes campaign.json into its folder."""
        write_whole(folder / NAME, json.dumps(asdict(self), indent=1) + "\n")


def read(folder: Path) -> Campaign:
    """The plan of a folder; raises BadInput where there is none."""
    try:
        content: Any = json.loads((folder / NAME).read_text(encoding="utf-8"))
        content["slices"] = [Slice(**one) for one in content["slices"]]
        content["comparisons"] = {
            study: {name: Planned(**one) for name, one in all_of_it.items()}
            for study, all_of_it in content["comparisons"].items()
        }
        return Campaign(**content)
    except OSError as error:
        text = f"{folder} holds no {NAME}: make one with `python3 -m bench.campaign plan {folder} STUDY...`"
        raise BadInput(text) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        text = f"{folder / NAME} is no plan ({error}): remove it and plan again"
        raise BadInput(text) from error


def kept(path: Path) -> str:
    """A path as it is kept: relative to the project where it lies in it."""
    whole = Path(os.path.abspath(path))
    return str(whole.relative_to(ROOT) if whole.is_relative_to(ROOT) else whole)


def found(path: str | Path, what: str) -> Path:
    """A file, looked up here, then in the project; raises BadInput."""
    for one in (Path(path), ROOT / path):
        if one.is_file():
            return Path(os.path.abspath(one))
    raise BadInput(f"no {what} '{path}', neither here nor in {ROOT}")


def hash_of(program: Path) -> str:
    """The hash of an executable."""
    return hashlib.sha256(program.read_bytes()).hexdigest()


def command(
    executable: Path, python: str, study: Path, output: Path, words: list[str]
) -> list[str]:
    """``bench/run`` on a program that is built already."""
    run = [str(ROOT / "bench/run"), "--no-build", "--executable", str(executable)]
    peers = ["--python", python] if python else ["--no-peers"]
    return [*run, *peers, "--output", str(output), str(study), *words]
