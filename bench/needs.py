# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.needs [--built LIST] STUDY [league options]``: what a study needs of League.

Prints the value of CMake's ``LEAGUE_ALGORITHMS``: the algorithms that the study names, or the folders of the methods that it
names (``sum/flat``), and those of LIST. With the standard library alone.
"""

import argparse
import difflib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib  # type: ignore[no-redef]

ALGORITHMS = Path(__file__).resolve().parents[1] / "algorithms"
NO_ALGORITHM = {"blocks", "contract", "drivers", "oracle"}
NO_METHOD = {"common", "host", "peers"}
SOURCES = {".cpp", ".cu", ".hpp"}


class BadStudy(Exception):
    """A study that cannot be read; the message names file and key."""


def folders(folder: Path, without: set[str]) -> list[str]:
    """Names of the folders in it."""
    found = (path.name for path in folder.iterdir() if path.is_dir())
    return sorted(name for name in found if name not in without and name[0] not in "._")


def words(value: Any) -> list[str]:
    """A word, or the words of a list."""
    every = value if isinstance(value, list) else [value]
    return [word for word in every if isinstance(word, str)]


def registers(folder: Path, method: str) -> bool:
    """Whether the folder is that of the method, or of several with this one among them."""
    files = (path for path in folder.iterdir() if path.suffix in SOURCES)
    return folder.name == method or any(
        f'"{method}"' in path.read_text(encoding="utf-8") for path in files
    )


def parts(algorithm: str, methods: list[str]) -> set[str]:
    """The folders that hold these methods; the algorithm where a method is named in none, or all are asked for."""
    named = [word for word in methods if not word.startswith("-")]
    home = ALGORITHMS / algorithm
    if not named or "all" in named:
        return {algorithm}
    found = {
        f"{algorithm}/{folder}"
        for folder in folders(home, NO_METHOD)
        if any(registers(home / folder, method) for method in named)
    }
    return found or {algorithm}


def assigned(options: list[str]) -> dict[str, list[str]]:
    """The words that ``--set KEY=VALUE`` gives to each key."""
    found: dict[str, list[str]] = {}
    for before, option in zip(["", *options], options, strict=False):
        text = option.removeprefix("--set=")
        if before == "--set" or text != option:
            key, _, value = text.partition("=")
            every = value.strip("[]").split(",")
            found[key.strip()] = [word.strip(" \"'") for word in every]
    return found


def cases(study: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Each table of cases with the defaults of the study."""
    defaults = {key: value for key, value in study.items() if key != "cases"}
    for table in study.get("cases", [{}]):
        yield {**defaults, **table}


def needs(file: Path, options: list[str]) -> set[str]:
    """The parts of a study; ``--set`` changes what it names."""
    try:
        study = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadStudy(f"{file}: {error}") from error
    given, known = assigned(options), folders(ALGORITHMS, NO_ALGORITHM)
    found: set[str] = set()
    for table in cases(study):
        for name in given.get("algorithm", words(table.get("algorithm", []))):
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                hint = (
                    f"did you mean '{near[0]}'?"
                    if near
                    else f"one of {', '.join(known)}"
                )
                raise BadStudy(
                    f"{file}: `algorithm` '{name}' names no algorithm: {hint}"
                )
            methods = given.get(f"{name}.methods", given.get("methods"))
            found |= parts(name, methods or words(table.get("methods", [])))
    return found


def merged(built: set[str], needed: set[str]) -> list[str]:
    """Both, without methods of algorithms that are there as a whole."""
    both = built | needed
    return sorted(part for part in both if part.partition("/")[0] not in both - {part})


def main(arguments: list[str] | None = None) -> int:
    """As a program."""
    parser = argparse.ArgumentParser(
        prog="python3 -m bench.needs", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--built", default="", help="parts that are built, as a;b")
    parser.add_argument("study", type=Path)
    options, others = parser.parse_known_args(arguments)
    try:
        needed = needs(options.study, others)
    except BadStudy as error:
        print(f"bench/run: {error}", file=sys.stderr)
        return 2
    built = set(filter(None, options.built.split(";")))
    print(";".join(merged(built, needed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
