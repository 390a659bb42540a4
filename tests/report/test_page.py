# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page: its parts, its tables, what it escapes, and that it loads nothing."""

import json
import re
from html.parser import HTMLParser

import pytest

from bench.report import __main__ as report
from bench.report import cells, machine, page
from bench.report.decode import decode
from bench.report.fields import Broken
from bench.report.figures import output
from bench.report.schema import League

pytest.importorskip("jinja2")
NASTY = 'x"><b onclick=1>&amp;</td>'
VOID = {"meta", "link", "input", "br", "wbr", "path", "use", "rect"}


class Parsed(HTMLParser):
    """What the tests ask of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.wrong = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        if tag not in VOID and (not self.open or self.open.pop() != tag):
            self.wrong.append(tag)

    def all(self, tag, **wanted):
        return [a for t, a in self.tags if t == tag and wanted.items() <= a.items()]


@pytest.fixture
def write(save, tmp_path):
    """write(entries, ...) -> the text of the page of one record."""

    def build(entries, **changes):
        folder = save(entries, **changes)
        report.main([str(folder), "--quiet"])
        return (folder / "report" / "index.html").read_text(encoding="utf-8")

    return build


def pair(entry, **changes):
    """A portable case 5 % slower than its native one, enough samples for a verdict."""
    fast = [1e-3 + i * 1e-7 for i in range(10)]
    slow = [1.05e-3 + i * 1e-7 for i in range(10)]
    return [entry("kokkos", slow, **changes), entry("cuda", fast, **changes)]


def test_the_page_is_whole_and_loads_nothing(write, entry):
    text = write([*pair(entry), entry("serial")])
    found = Parsed(text)
    assert found.wrong == [] and found.open == []
    ids = [a["id"] for _, a in found.tags if "id" in a]
    assert len(ids) == len(set(ids))
    addresses = [a[k] for _, a in found.tags for k in ("src", "href") if k in a]
    outside = [a for a in addresses if not a.startswith(("#", "figures/", "data:,"))]
    assert outside == [] and not re.search(r"@import|url\((?!#)", text)
    for target in (a[1:] for a in addresses if a.startswith("#")):
        assert target in ids
    sections = [a["id"] for a in found.all("section")]
    order = ["the-answer", "every-case", "machine", "method"]
    assert [s for s in sections if s in order] == order
    assert sections.index("the-answer") == 0


def test_every_column_is_a_button_and_every_row_knows_its_filters(write, entry):
    text = write(pair(entry))
    found = Parsed(text)
    headers = found.all("th", scope="col")
    assert len(headers) == text.count('<th scope="col"') == text.count("</button></th>")
    rows = found.all("tr", **{"data-algorithm": "vector_add"})
    assert len(rows) == 4  # one answer, its gap, two cases
    assert rows[0]["data-models"] == "kokkos cuda"
    assert rows[0]["data-verdict"] == "slower"
    names = [a["name"] for a in found.all("select")]
    assert names == ["algorithm", "device", "model", "verdict"]
    assert found.all("form")[0].get("hidden", "no") is None  # until its script runs


def test_columns_that_are_the_same_in_all_rows_are_told_once(write, entry):
    text = write([*pair(entry), entry("hip", [3e-3] * 8, latency_s=4e-3)])
    assert "3 rows</output>. All: " in text
    cases = text[text.index('id="cases"') :]
    heads = re.findall(r"<button[^>]*>([^<]+)</button>", cases)
    assert heads[:2] == ["model", "median [95 %]"]
    assert "problem vector_add f32 n=2^28, devices 1, ranks 1" in text
    assert "execution" not in heads and "rate" in heads


def test_a_lone_line_keeps_its_columns():
    line = cells.Line("a", "d", "m", "", {"x": cells.Cell("1"), "y": cells.Cell("")})
    assert cells.table(("x", "y"), [line]) == cells.Table(
        ("x", "y"), [line], {}, cells.NUMBERS
    )
    other = cells.Line("a", "d", "m", "", {"x": cells.Cell("1"), "y": cells.Cell("2")})
    assert cells.table(("x", "y"), [line, other]) == cells.Table(
        ("y",), [line, other], {"x": "1"}, cells.NUMBERS
    )


def test_where_no_roofline_limits_is_said_once(write, entry):
    text = write([*pair(entry, n=2**10), *pair(entry, n=2**10, method="plain")])
    words = re.sub(
        r"<style.*?</style>|<section id=.method.*", "", text, flags=re.DOTALL
    )
    assert "4 on data that may stay in the last-level cache" in words
    assert words.count("cache") == 1


def test_the_answer_names_the_winner_and_splits_the_gap(write, entry):
    text = write(pair(entry))
    answer = text[text.index('id="answer"') : text.index("</table>")]
    words = re.sub(r"<[^>]+>", "|", answer)
    assert "wide / cuda" in words and "wide / kokkos" in words
    assert "|1.050|" in words and "[1.050, 1.050]" in words
    assert "▼" in words and "slower" in words


def test_a_peer_may_win(write, entry):
    peer = entry("pytorch", [1e-4 + i * 1e-8 for i in range(10)])
    text = write([*pair(entry), peer])
    answer = re.sub(
        r"<[^>]+>", "|", text[text.index('id="answer"') : text.index("</table>")]
    )
    assert answer.count("wide / pytorch") == 2, "best of all, and library or peer"
    gap = re.sub(r"<[^>]+>", "|", text[text.index('id="gap"') :])
    assert "1.050" in gap and "10.500" in gap, "language, and the whole gap"
    (row,) = Parsed(text[: text.index("</table>")]).all(
        "tr", **{"data-verdict": "slower"}
    )
    assert row["data-models"].split() == ["kokkos", "cuda", "pytorch"]


def test_user_text_is_escaped_everywhere(write, entry):
    entries = pair(entry, method=NASTY, algorithm=NASTY)
    text = write(entries, study=NASTY, preflight=[NASTY], compiler=NASTY)
    assert "<b onclick" not in text
    assert Parsed(text).wrong == []


def test_null_tests_are_told_apart(write, entry):
    """A variant against itself stands in no table; a false verdict is named."""
    again = entry("kokkos", [2e-3 + i * 1e-7 for i in range(10)])
    again |= {"null": True, "name": again["name"] + "/null:1"}
    text = write([*pair(entry), again])
    assert "1 variant against itself: 1 false verdict" in " ".join(text.split())
    assert len(Parsed(text).all("tr", **{"data-models": "kokkos"})) == 1


def test_no_record_of_two_models_still_makes_a_page(write, entry):
    text = write([entry("kokkos", [1e-3] * 8)])
    assert "No portable case was measured beside a native one" in text


def test_without_matplotlib_the_page_says_so(write, entry, monkeypatch):
    monkeypatch.setattr(output, "DRAWS", False)
    assert not page.available()
    text = write(pair(entry))
    assert page.NO_FIGURES in text and "<svg" not in text
    assert "wide / cuda" in text


def test_a_figure_that_cannot_be_drawn_costs_no_page(save, entry, monkeypatch, capsys):
    pytest.importorskip("matplotlib")

    def broken(*_):
        raise ValueError("no such hatch")

    monkeypatch.setattr(page, "render", broken)
    folder = save(pair(entry))
    assert report.main([str(folder), "--quiet"]) == 1
    text = (folder / "report" / "index.html").read_text(encoding="utf-8")
    assert "not drawn (ValueError: no such hatch)" in text
    assert "not drawn: ValueError: no such hatch" in capsys.readouterr().err


def test_commands_name_the_study_and_the_folders(write, entry):
    text = write(pair(entry), study="quick")
    assert "bench/run configs/quick.toml" in text
    assert re.search(r"python3 -m bench\.report \S+/a", text)


def test_bars_of_ratios_are_logarithmic_around_one():
    assert cells.per_cent(1) == 50.0
    assert (cells.per_cent(0.8), cells.per_cent(1.25)) == (0.0, 100.0)
    assert (cells.per_cent(0.01), cells.per_cent(9)) == (0.0, 100.0)
    assert cells.per_cent(1.25**0.5) == 75.0
    assert cells.bar(1, 1 / 1.25, 1.25) == cells.Bar(0.0, 100.0, 50.0, False)
    assert cells.bar(2, None, None) == cells.Bar(100.0, 0.0, 100.0, True)


def test_what_a_device_did_not_tell_is_no_zero():
    gpu = {"kind": "gpu", "index": 0, "name": "H200", "power_limit_W": "0"}
    more = {"power_limit_default_W": "700", "other_processes": "0"}
    text = "H200, power limit default W 700, other processes 0"
    assert machine.device_fact({**gpu, **more}) == ("gpu 0", text)


def league_of(content):
    """The part ``league`` of a context."""
    return decode(json.dumps(content).encode(), League)


def test_facts_of_machine_and_build():
    league = {
        "preset": "openmp",
        "cuda_flags": "",
        "devices": [
            {"kind": "host", "index": 0, "name": "Xeon", "llc_bytes": 3 * 2**20}
        ],
        "backends": {"openmp": {"version": "201511", "unavailable": ""}},
    }
    facts = machine.read_facts(league_of(league))
    assert facts == (
        ("preset", "openmp"),
        ("host 0", "Xeon, llc 3 MiB"),
        ("backend openmp", "201511"),
    )
    other = (("preset", "cuda"), facts[1])
    assert machine.merged([facts, other])[:2] == [
        ("preset", "openmp; cuda"),
        ("host 0", "Xeon, llc 3 MiB"),
    ]
    for wrong in ("nonsense", {"devices": 3}, {"backends": [1]}):
        with pytest.raises(Broken):
            league_of(wrong)
