# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table as one HTML page that needs nothing else."""

from __future__ import annotations

import html
from pathlib import Path

from .view import COLUMNS, NUMBERS, Group

try:
    import jinja2
except ImportError:  # a machine with python3 and numpy only
    jinja2 = None

PLAIN = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>League table</title></head>
<body><pre>{text}</pre></body></html>
"""


def to_html(
    headline: str,
    groups: list[Group],
    remarks: list[str],
    findings: list[str],
    markdown: str,
) -> str:
    """The page; without Jinja2, the Markdown text as it is."""
    if jinja2 is None:
        return PLAIN.format(text=html.escape(markdown))
    template = Path(__file__).with_name("page.html.jinja").read_text(encoding="utf-8")
    page = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return page.from_string(template).render(
        headline=headline,
        groups=groups,
        remarks=remarks,
        findings=findings,
        columns=COLUMNS,
        numbers=NUMBERS,
    )
