# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python3 -m bench.report DIR [DIR...]``: the league table of folders of records.

``python3 -m bench.report compare A B`` puts two of them side by side instead.
"""

from __future__ import annotations

import sys

from . import options


def main(argv: list[str]) -> int:
    """Returns the exit code."""
    compares = argv[:1] == ["compare"]
    parser = options.comparison() if compares else options.report()
    chosen = parser.parse_args(argv[compares:])
    from . import command, compare  # their packages are not needed for --help

    return compare.run(chosen) if compares else command.run(chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
