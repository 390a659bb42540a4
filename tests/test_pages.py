# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pages: every link leads to a file or heading, and the first page is short."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not {"build", ".pytest_cache"} & set(path.relative_to(ROOT).parts)
)
LINK = re.compile(r"\]\(([^()\s]+)\)")
LONGEST = 130  # lines of the first page
WORDS = 900  # of it


def anchors(text):
    """Headings as a browser of repositories names them."""
    heads = re.findall(r"^#+ (.*)$", re.sub(r"(?s)```.*?```", "", text), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", head).strip().lower().replace(" ", "-")
        for head in heads
    }


def broken(page, text):
    """Links of a page that lead nowhere."""
    for link in LINK.findall(re.sub(r"(?s)```.*?```|`[^`\n]*`", "", text)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if re.match(r"https?:", link):
            continue
        known = (
            anchors(target.read_text(encoding="utf-8"))
            if anchor and target.exists()
            else {anchor}
        )
        if not target.exists() or anchor not in known:
            yield link


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert list(broken(page, page.read_text(encoding="utf-8"))) == []


def test_broken_links_are_found(tmp_path):
    page = tmp_path / "page.md"
    text = (
        "# One: two\n[a](page.md#one-two) [b](#one-two) [c](no.md) [d](#no) `[e](f)`\n"
    )
    page.write_text(text, encoding="utf-8")
    assert list(broken(page, text)) == ["no.md", "#no"]


def test_first_page_is_short():
    """What is drawn counts; bars of tables do not."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LONGEST
    words = [word for word in text.split() if any(map(str.isalnum, word))]
    assert len(words) <= WORDS
