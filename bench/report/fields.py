# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files and JSON texts; errors give the reason."""

from __future__ import annotations

import gzip
import json
import lzma
import re
import zlib
from pathlib import Path
from typing import IO, Any, cast

MIN_TIME_S, MAX_TIME_S = 1e-12, 1e9  # times of one compute [s]
MAX_VALUE = 1e30  # bytes, operations: their quotients by any such time are finite
# control characters, and halves of a pair of surrogates
UNSEEMLY = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
MAX_FILE_BYTES = 4 * 2**30  # of a file, unpacked: larger ones are damaged or malicious


class Broken(ValueError):
    """A file that cannot be used, and why: on one line of printable characters."""

    def __init__(self, why: str) -> None:
        super().__init__("".join(c if c.isprintable() else "?" for c in why))


def opened(path: Path) -> IO[bytes]:
    """The file, unpacked where its name says that it is compressed."""
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path))
    return cast(IO[bytes], lzma.open(path)) if path.suffix == ".xz" else path.open("rb")


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked where it is compressed; raises Broken."""
    try:
        with opened(path) as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except MemoryError as error:
        raise Broken("too large for this machine's memory") from error
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        kind = "xz" if path.suffix == ".xz" else "gzip"
        raise Broken(f"not a whole {kind} file: {error}") from error
    except OSError as error:
        raise Broken(f"cannot be read: {error.strerror}") from error
    if len(data) > MAX_FILE_BYTES:
        raise Broken(f"holds more than {MAX_FILE_BYTES >> 30} GiB")
    return data


def parse(data: bytes) -> Any:
    """The value of a JSON text; raises Broken."""
    try:
        return json.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Broken(f"not UTF-8 at byte {error.start}") from error
    except RecursionError as error:
        raise Broken("nested too deeply") from error
    except MemoryError as error:
        raise Broken("too large for this machine's memory") from error
    except json.JSONDecodeError as error:
        raise Broken(f"not a whole JSON file: {error}") from error
    except ValueError as error:  # a number of more digits than Python reads
        raise Broken(str(error)) from error


def shown(value: Any, width: int = 60) -> str:
    """A wrong value in a message, cut where it is long."""
    try:
        return f"{value!r:.{width}}"
    except (
        RecursionError,
        ValueError,
    ):  # nested deeply; of more digits than Python writes
        return type(value).__name__
